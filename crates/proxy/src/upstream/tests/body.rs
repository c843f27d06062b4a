//! Bodies arrive as they are sent, neither sooner nor later.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc;

use super::super::{Progress, TimeoutKind};
use super::*;

/// Everything that is ready, as one text.
async fn ready(body: &mut UpstreamBody) -> Result<(String, Progress), UpstreamError> {
    let mut text = String::new();
    let progress = poll_fn(|cx| {
        body.poll_ready_chunks(cx, &mut |bytes| text.push_str(std::str::from_utf8(bytes).unwrap()))
    })
    .await?;
    Ok((text, progress))
}

#[tokio::test]
async fn frames_arrive_one_by_one() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    // Each frame is sent when the last has arrived: a frame that is held back for another would
    // never arrive.
    let (arrived, mut wait) = mpsc::channel(1);
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(CHUNKED).await;
        for number in 0..50 {
            caller.chunk(&format!("data: {number}\n\n")).await;
            wait.recv().await.unwrap();
        }
        caller.write(b"0\r\n\r\n").await;
        caller
    };
    let ask = async {
        let mut body = upstreams.send(&target, post("{}")).await.unwrap().into_body();
        for number in 0..50 {
            let (text, progress) = ready(&mut body).await.unwrap();
            assert_eq!((text, progress), (format!("data: {number}\n\n"), Progress::Drained));
            arrived.send(()).await.unwrap();
        }
        assert_eq!(ready(&mut body).await.unwrap(), (String::new(), Progress::End));
    };
    let (_caller, ()) = tokio::join!(serve, ask);
    assert_eq!(upstreams.pool(&target).idle_connections(), 1);
}

#[tokio::test]
async fn bytes_that_arrive_together_are_passed_on_together() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.request().await;
        let mut all = CHUNKED.to_vec();
        for _ in 0..100 {
            all.extend_from_slice(b"3\r\nabc\r\n");
        }
        all.extend_from_slice(b"0\r\n\r\n");
        caller.write(&all).await;
    };
    let ask = async {
        let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
        assert_eq!(ready(&mut body).await.unwrap(), ("abc".repeat(100), Progress::End));
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn one_call_hands_over_a_bounded_amount() {
    const LENGTH: usize = 4 << 20;
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = tokio::spawn(async move {
        let mut caller = peer.accept().await;
        caller
            .answer(format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n").as_bytes())
            .await;
        caller.write(&vec![b'x'; LENGTH]).await;
        caller
    });
    let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
    let (mut total, mut largest) = (0, 0);
    loop {
        let (text, progress) = ready(&mut body).await.unwrap();
        total += text.len();
        largest = largest.max(text.len());
        if progress == Progress::End {
            break;
        }
    }
    assert_eq!(total, LENGTH);
    // The limit plus a read buffer: hyper fills what it has allocated, which may be twice what was
    // requested.
    assert!(largest <= (256 << 10) + (128 << 10), "{largest}");
    drop(serve.await.unwrap());
}

/// Pieces that split the chunk framing at every position.
#[tokio::test]
async fn framing_may_be_cut_anywhere() {
    let whole = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    for cut in 1..whole.len() {
        let (peer, upstreams) = (Peer::new().await, upstreams());
        let target = peer.target();
        let serve = async {
            let mut caller = peer.accept().await;
            caller.answer(&whole[..cut]).await;
            tokio::task::yield_now().await;
            caller.write(&whole[cut..]).await;
            caller
        };
        let ask = async { text(upstreams.send(&target, get()).await).await };
        let (_caller, answer) = tokio::join!(serve, ask);
        assert_eq!(answer, "hello world", "cut at {cut}");
    }
}

#[tokio::test]
async fn a_stall_ends_the_body() {
    let peer = Peer::new().await;
    let idle = 20 * SHORT;
    let upstreams = Upstreams::new(UpstreamTimeouts { idle, ..PATIENT }, Tls::system().unwrap());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(CHUNKED).await;
        // In total slower than the timeout, but never silent for nearly as long.
        for _ in 0..24 {
            caller.chunk("x").await;
            tokio::time::sleep(SHORT).await;
        }
        caller.gone().await;
    };
    let ask = async {
        let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
        let mut read = String::new();
        loop {
            match ready(&mut body).await {
                Ok((text, _)) => read.push_str(&text),
                Err(error) => break (error, read),
            }
        }
    };
    let ((), (error, read)) = tokio::join!(serve, ask);
    assert_eq!(read, "x".repeat(24));
    assert!(error.is_timeout());
    assert!(matches!(error, UpstreamError::Timeout { which: TimeoutKind::Idle, .. }), "{error}");
    let expected = format!("`{}` sent nothing more within 2s", target.origin());
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn dropping_the_body_cancels_the_exchange() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(CHUNKED).await;
        caller.chunk("first").await;
        caller.gone().await;
    };
    let ask = async {
        let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
        assert_eq!(ready(&mut body).await.unwrap().0, "first");
    };
    tokio::join!(serve, ask);
    assert_eq!(upstreams.pool(&target).idle_connections(), 0);
}

#[tokio::test]
async fn dropping_the_wait_for_the_head_cancels_the_exchange() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.request().await;
        caller.gone().await;
    };
    let ask = async {
        let waited = tokio::time::timeout(SHORT, upstreams.send(&target, get())).await;
        assert!(waited.is_err());
    };
    tokio::join!(serve, ask);
}

/// The body moves from the task that sent the request to another, as it does below a server.
#[tokio::test]
async fn a_body_may_change_its_task() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let (go, mut gone) = mpsc::channel::<()>(1);
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(CHUNKED).await;
        gone.recv().await.unwrap();
        tokio::time::sleep(SHORT).await;
        caller.chunk("late").await;
        caller.write(b"0\r\n\r\n").await;
        caller
    };
    let ask = async {
        let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
        // Polled once here, so that this task is the one that is registered to be woken.
        let polled = tokio::time::timeout(Duration::from_millis(10), ready(&mut body)).await;
        assert!(polled.is_err());
        go.send(()).await.unwrap();
        let other = tokio::spawn(async move { ready(&mut body).await.unwrap().0 });
        assert_eq!(other.await.unwrap(), "late");
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn a_reader_that_waits_makes_the_provider_wait() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").await;
        caller.write_until_blocked(&vec![b'x'; 64 << 10]).await
    };
    let ask = async { upstreams.send(&target, get()).await.unwrap() };
    let (written, response) = tokio::join!(serve, ask);
    // Only what the kernel buffers at both ends.
    assert!(written < 32 << 20, "{written} bytes were taken");
    drop(response);
}

#[tokio::test]
async fn a_reader_that_waits_after_the_last_bytes_is_woken_when_the_silence_is_too_long() {
    let (peer, idle) = (Peer::new().await, SHORT);
    let upstreams = Upstreams::new(UpstreamTimeouts { idle, ..PATIENT }, Tls::system().unwrap());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(CHUNKED).await;
        caller.chunk("data: 1\n\n").await;
        caller.gone().await;
    };
    let ask = async {
        let mut body = upstreams.send(&target, post("{}")).await.unwrap().into_body();
        // The first poll after a wake takes the bytes, and nothing polls again before the next wake.
        let mut is_drained = false;
        let failure = poll_fn(|cx| match body.poll_ready_chunks(cx, &mut |_| {}) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            Poll::Ready(Ok(progress)) => {
                assert_eq!(progress, Progress::Drained);
                is_drained = true;
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        });
        let failure = tokio::time::timeout(PATIENT.idle, failure).await.expect("it is woken");
        assert!(matches!(failure, UpstreamError::Timeout { which: TimeoutKind::Idle, .. }));
        assert!(is_drained);
    };
    tokio::join!(serve, ask);
}
