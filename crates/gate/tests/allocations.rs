//! Text costs no allocation, except for the buffer that collects the text of a turn.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]
#![expect(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use callgate_dialect::Dialect;
use callgate_gate::{Gate, OnDeny, Step};
use callgate_testkit::drive;

struct Counting;

thread_local! {
    // Only this thread: the test runner allocates at any time.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations while `frames` pass, after a warm-up in which the text buffer of the turn has
/// reached its full size.
fn allocations(dialect: Dialect, open: &str, frame: &str) -> usize {
    let mut gate = Gate::new(dialect, drive::settings(OnDeny::Explain));
    let mut out = Vec::with_capacity(1 << 16);
    let batch = frame.repeat(20);
    let mut pass = |bytes: &str| {
        gate.push(bytes.as_bytes());
        out.clear();
        assert!(matches!(gate.step(&mut out), Step::NeedMore));
        assert_eq!(out.len(), bytes.len());
    };
    pass(open);
    for _ in 0..150 {
        pass(&batch);
    }
    let before = COUNT.get();
    for _ in 0..100 {
        pass(&batch);
    }
    COUNT.get() - before
}

/// One test, so that no other thread allocates at the same time.
#[test]
fn text_frames_do_not_allocate() {
    let open = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let messages = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some \\\"text\\\" \\u00e9\"}}\n\n";
    assert_eq!(allocations(Dialect::Anthropic, open, messages), 0);

    let chat = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
    assert_eq!(allocations(Dialect::OpenAiChat, chat, chat), 0);
}
