//! Forwards a stream of the server's events to the client and inspects each message in it.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use callgate_wire::{Frame, Framing, Splitter};
use http::{HeaderMap, Method};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::mpsc;

use super::post::{ClientRequest, without_line_end};
use super::{list, read, site};
use crate::answers;
use crate::session::{OutgoingLine, messages_over_http};

/// Maximum size of an event in addition to its message: names, ids, comments.
const EVENT_OVERHEAD: usize = 64 * 1024;

/// Forwards a stream to a client in its own task, inspecting each event.
pub(super) fn carry(
    exchange: ClientRequest,
    headers: &HeaderMap,
    body: Incoming,
    sender: mpsc::Sender<Bytes>,
) {
    let decoder = read::decoder(headers);
    tokio::spawn(async move {
        let why = match decoder {
            Ok(decoder) => pump(&exchange, decoder, body, &sender).await,
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            cut(&exchange, &why, &sender).await;
        }
        if let Some(channel) = &exchange.channel {
            exchange.site.channels.close(channel);
        }
    });
}

/// Forwards events until either side ends. Returns why the rest cannot be forwarded, if so.
async fn pump(
    exchange: &ClientRequest,
    mut decoder: callgate_wire::Decoder,
    mut body: Incoming,
    sender: &mpsc::Sender<Bytes>,
) -> Option<String> {
    let mut splitter =
        Splitter::new(Framing::Sse, exchange.site.settings.max_message + EVENT_OVERHEAD);
    let (mut plain, mut ends) = (Vec::new(), exchange.site.stopping.clone());
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            _ = ends.wait_for(|ends| *ends), if exchange.listens => return None,
            // The client is gone. Disconnect too, because the server then stops the work.
            () = sender.closed() => return None,
        };
        // An unfinished event does not count.
        let Some(Ok(frame)) = frame else { return None };
        let Ok(data) = frame.into_data() else { continue };
        plain.clear();
        if let Err(error) = decoder.push(&data, &mut plain) {
            return Some(error.to_string());
        }
        splitter.push(&plain);
        let mut out = Vec::new();
        loop {
            match splitter.next_frame() {
                Ok(Some(frame)) => event(exchange, &frame, &mut out).await,
                Ok(None) => break,
                Err(error) => return Some(error.to_string()),
            }
        }
        if !out.is_empty() && sender.send(out.into()).await.is_err() {
            return None;
        }
    }
}

/// Ends the stream early, with an error for the waiting client.
async fn cut(exchange: &ClientRequest, why: &str, sender: &mpsc::Sender<Bytes>) {
    exchange.conversation.mcp_session.record_withheld("the server", why);
    let Some(id) = &exchange.id else { return };
    exchange.forget().await;
    let text = format!("callgate withheld the rest of the server's response: {why}");
    let error = answers::error(Some(id), answers::REFUSED, &text);
    let error = without_separators(error.as_bytes());
    sender.send(format!("event: message\ndata: {error}\n\n").into()).await.ok();
}

/// Forwards one event.
async fn event(exchange: &ClientRequest, frame: &Frame<'_>, out: &mut Vec<u8>) {
    if let (Some(channel), Some(data)) = (&exchange.channel, frame.data())
        && !data.is_empty()
        && channel.takes(&exchange.site, frame, data, out)
    {
        return;
    }
    let mcp_session = &exchange.conversation.mcp_session;
    let knew_tools = mcp_session.knows_tools();
    let messages = match frame.data() {
        None | Some([]) => Vec::new(),
        Some(data) => messages(exchange, data).await,
    };
    pass(frame, |_| messages, out);
    // The server announced that its tools changed.
    if knew_tools && !mcp_session.knows_tools() {
        list::again(exchange);
    }
}

/// What a client gets of an event whose data `judge` turns into messages.
pub(crate) fn pass(
    frame: &Frame<'_>,
    judge: impl FnOnce(&[u8]) -> Vec<Vec<u8>>,
    out: &mut Vec<u8>,
) {
    match frame.data() {
        // A comment, or an id to resume from.
        None if frame.clean() => frame.keep(out),
        None => {}
        Some([]) if frame.clean() => frame.keep(out),
        Some([]) => frame.rewrite(None, b"", out),
        Some(data) => {
            for (place, text) in judge(data).into_iter().enumerate() {
                write(frame, data, &text, place == 0, out);
            }
        }
    }
}

/// The messages that the client sees of a server message.
async fn messages(exchange: &ClientRequest, data: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    for message in messages_over_http(exchange.server_steps(data).await) {
        match message {
            OutgoingLine::ToServer(text) => send_to_server(exchange, text),
            OutgoingLine::ToClient(text) => messages.push(without_line_end(text)),
        }
    }
    messages
}

/// Writes a message: inside its original event, if it is the first of it.
fn write(frame: &Frame<'_>, data: &[u8], text: &[u8], is_first: bool, out: &mut Vec<u8>) {
    let is_as_it_came = text == data && frame.clean() && !has_separator(text);
    match (is_first, is_as_it_came) {
        (true, true) => frame.keep(out),
        (true, false) => frame.rewrite(None, without_separators(text).as_bytes(), out),
        (false, _) => frame.another(Some("message"), &without_separators(text), out),
    }
}

/// Some clients also end a line at these characters, so that the rest would be a separate event. In
/// JSON they only occur inside strings.
const SEPARATORS: [char; 8] =
    ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

fn has_separator(text: &[u8]) -> bool {
    let is_rare = |byte: &u8| matches!(byte, 0xb | 0xc | 0x1c..=0x1e | 0xc2 | 0xe2);
    text.iter().any(is_rare)
        && std::str::from_utf8(text).map_or(true, |text| text.contains(SEPARATORS))
}

pub(super) fn without_separators(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.contains(SEPARATORS) {
        false => text.into_owned(),
        true => text.chars().fold(String::with_capacity(text.len() + 8), |mut out, c| {
            match SEPARATORS.contains(&c) {
                true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                false => out.push(c),
            }
            out
        }),
    }
}

/// Sends a message to the server in place of the client.
pub(super) fn send_to_server(exchange: &ClientRequest, text: Vec<u8>) {
    let (site, headers) = (Arc::clone(&exchange.site), site::own(&exchange.headers));
    let Ok(permit) = Arc::clone(&site.refusals_in_flight).try_acquire_owned() else {
        let why = "it sends requests faster than it reads the answers";
        exchange.conversation.mcp_session.record_withheld("the server", why);
        return;
    };
    let to = exchange.place();
    tokio::spawn(async move {
        let body = without_line_end(text).into();
        let sent = site.upstream.send(Method::POST, &to, &headers, body).await;
        if let Err(error) = sent {
            tracing::debug!(server = site.id, %error, "a refusal could not be sent to the server");
        }
        drop(permit);
    });
}

/// The first message in a response for which `take` finds something.
pub(super) async fn find<T>(
    headers: &HeaderMap,
    mut body: Incoming,
    limit: usize,
    mut take: impl FnMut(&[u8]) -> ControlFlow<T>,
) -> Option<T> {
    let mut decoder = read::decoder(headers).ok()?;
    let mut splitter = Splitter::new(Framing::Sse, limit);
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        let mut plain = Vec::new();
        decoder.push(&data, &mut plain).ok()?;
        splitter.push(&plain);
        while let Some(frame) = splitter.next_frame().ok()? {
            if let Some(data) = frame.data()
                && let ControlFlow::Break(found) = take(data)
            {
                return Some(found);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
