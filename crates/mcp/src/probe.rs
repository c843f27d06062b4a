//! A session without peers and without I/O, for the fuzz targets.
//!
//! It uses the same session, the same reading of lines and events and the same writing as on a pipe
//! and over HTTP. A [`Probe`] does everything else at once: it waits for verdicts, and answers
//! callgate's own request for the list of tools.

use std::sync::Arc;

use callgate_call::{Origin, Surface};
use callgate_decide::mcp::{Launch, McpSession};
use callgate_decide::{Decider, RequestContext};
use callgate_wire::{Framing, Splitter};

use crate::http::{events, post};
use crate::lines::{LineSplitter, SplitLine};
use crate::message::{RpcMessage, RpcMessageKind};
use crate::session::{OutgoingLine, RpcSession, SessionStep};

/// The maximum size of a message: so small that inputs reach it.
pub const MAX_MESSAGE: usize = 4096;

/// A client and a server that send what the caller provides.
pub struct Probe {
    mcp_session: McpSession,
    session: RpcSession,
    runtime: tokio::runtime::Runtime,
    /// The tools that the server lists when callgate asks: entries, as JSON.
    tools: String,
    /// Everything that was sent to the server.
    pub to_server: Vec<Vec<u8>>,
    /// Everything that was sent to the client.
    pub to_client: Vec<Vec<u8>>,
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Probe {
    /// A session on a pipe.
    pub fn on_pipe(decider: &Decider, tools: &str) -> std::io::Result<Self> {
        Self::new(decider, tools, RpcSession::new)
    }

    /// A session over separate requests.
    pub fn in_requests(decider: &Decider, tools: &str) -> std::io::Result<Self> {
        Self::new(decider, tools, |mcp_session| {
            RpcSession::of_requests(mcp_session, Arc::default())
        })
    }

    fn new(
        decider: &Decider,
        tools: &str,
        session: impl FnOnce(McpSession) -> RpcSession,
    ) -> std::io::Result<Self> {
        let context = RequestContext::new(Origin::at(Surface::Mcp));
        let mcp_session = decider.mcp("s", &Launch::command("s", &["x"], None), context);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let (session, tools) = (session(mcp_session.clone()), tools.to_owned());
        Ok(Self {
            mcp_session,
            session,
            runtime,
            tools,
            to_server: Vec::new(),
            to_client: Vec::new(),
        })
    }

    /// Lines of one side, in pieces.
    pub fn lines<'a>(&mut self, side: MessageSender, pieces: impl Iterator<Item = &'a [u8]>) {
        let mut lines = LineSplitter::new(MAX_MESSAGE);
        for piece in pieces {
            lines.push(piece);
            while let Some(line) = lines.next_line() {
                self.line(side, &line);
            }
        }
        if let Some(line) = lines.finish() {
            self.line(side, &line);
        }
    }

    fn line(&mut self, side: MessageSender, line: &SplitLine) {
        let session = &mut self.session;
        let steps = match (side, line) {
            (MessageSender::Client, SplitLine::Whole(line)) => session.client_line(line),
            (MessageSender::Client, SplitLine::TooLarge(head)) => {
                vec![session.client_too_large(head, MAX_MESSAGE)]
            }
            (MessageSender::Server, SplitLine::Whole(line)) => session.server_line(line),
            (MessageSender::Server, SplitLine::TooLarge(head)) => {
                session.server_too_large(head, MAX_MESSAGE)
            }
        };
        self.take(steps);
    }

    /// A message of the client in its own request.
    pub fn request(&mut self, body: &[u8]) {
        if let Ok(message) = RpcMessage::of_body(body) {
            let steps = self.session.client_message(message);
            self.take(steps);
        }
    }

    /// What the client gets of a message that the server sends as JSON.
    pub fn answer(&mut self, body: &[u8]) -> Option<Vec<u8>> {
        let steps = post::steps_for(&mut self.session, body);
        self.shown(steps).pop()
    }

    /// What the client gets of events that the server sends in pieces, until one is unreadable.
    pub fn events<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut splitter, mut out) = (Splitter::new(Framing::Sse, MAX_MESSAGE), Vec::new());
        for piece in pieces {
            splitter.push(piece);
            loop {
                let Ok(frame) = splitter.next_frame() else { return out };
                let Some(frame) = frame else { break };
                let judge = |data: &[u8]| {
                    let steps = post::steps_for(&mut self.session, data);
                    self.shown(steps)
                };
                events::pass(&frame, judge, &mut out);
            }
        }
        out
    }

    /// What the client sees. All other steps are carried out.
    fn shown(&mut self, steps: Vec<SessionStep>) -> Vec<Vec<u8>> {
        let before = self.to_client.len();
        self.take(steps);
        self.to_client.split_off(before).into_iter().map(post::without_line_end).collect()
    }

    fn take(&mut self, mut steps: Vec<SessionStep>) {
        steps.reverse();
        while let Some(step) = steps.pop() {
            let more = match step {
                SessionStep::Send(OutgoingLine::ToClient(text)) => {
                    self.to_client.push(text);
                    Vec::new()
                }
                SessionStep::Send(OutgoingLine::ToServer(text)) => {
                    let answer = self.own_list(&text);
                    self.to_server.push(text);
                    answer.map(|answer| self.session.server_line(&answer)).unwrap_or_default()
                }
                SessionStep::Judge(mut question) => {
                    let decision = self.runtime.block_on(question.ask(&self.mcp_session, None));
                    let messages = self.session.decided(*question, decision);
                    messages.into_iter().map(SessionStep::Send).collect()
                }
                SessionStep::Listing(_) => Vec::new(),
            };
            steps.extend(more.into_iter().rev());
        }
    }

    /// The server's answer when callgate itself requests the list.
    fn own_list(&self, text: &[u8]) -> Option<Vec<u8>> {
        let RpcMessageKind::Request { id, .. } = RpcMessage::of_body(text).ok()?.kind else {
            return None;
        };
        let (is_own, tools) = (self.session.is_own(&id), &self.tools);
        let id = id.json();
        is_own.then(|| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]}}}}"#).into_bytes()
        })
    }
}

/// Whether this is one message that every peer reads the same way.
pub fn is_message(text: &[u8]) -> bool {
    RpcMessage::of_body(text).is_ok()
}

/// Whether this is one line, with its line end, and a message that every peer reads the same way.
pub fn is_line(text: &[u8]) -> bool {
    let is_one = text.iter().filter(|byte| **byte == b'\n').count() == 1 && text.ends_with(b"\n");
    is_one && matches!(RpcMessage::read(text), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use callgate_effects::Catalogue;
    use callgate_policy::{Policies, Source};
    use callgate_store::{Location, Store};

    use super::*;

    const TOOLS: &str = r#"{"name":"echo","inputSchema":{"type":"object"}},{"name":"rm"}"#;
    const CALL: &[u8] =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    const DONE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

    fn decider() -> Decider {
        let text = "policy: p\nrules:\n  - { id: no-rm, tool: rm, surface: mcp, verdict: deny, reason: No. }\n";
        let source = Source { name: "p.yaml".into(), text: text.into() };
        let (policies, _) = Policies::compile(&[source], &Catalogue::builtin()).unwrap();
        let audit = Store::open(&callgate_store::Settings::at(Location::Memory)).unwrap();
        Decider::new(Some(policies), audit, callgate_decide::Settings::default())
    }

    #[test]
    fn a_probe_on_a_pipe_behaves_like_a_pipe() {
        let mut probe = Probe::on_pipe(&decider(), TOOLS).unwrap();
        let denied = String::from_utf8_lossy(CALL).replace("echo", "rm").replace("1,\"m", "2,\"m");
        let received = [CALL, b"\n", denied.as_bytes(), b"\n"].concat();
        probe.lines(MessageSender::Client, received.chunks(7));
        assert_eq!(probe.to_server.len(), 2, "the list, and the call that is allowed");
        assert_eq!(probe.to_server[1], [CALL, b"\n"].concat());
        assert!(is_line(&probe.to_client[0]) && probe.to_client.len() == 1);
        probe.lines(MessageSender::Server, DONE.chunks(5));
        assert_eq!(probe.to_client[1], [DONE, b"\n"].concat());
    }

    #[test]
    fn a_probe_in_requests_behaves_like_http() {
        for is_stream in [true, false] {
            let mut probe = Probe::in_requests(&decider(), TOOLS).unwrap();
            probe.request(CALL);
            assert_eq!(probe.to_server, [[CALL, b"\n"].concat()]);
            let odd: &[u8] = br#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
            if is_stream {
                let stream = [b": x\n\ndata: ", odd, b"\n\ndata: ", DONE, b"\n\ndata: "].concat();
                let shown = [b": x\n\ndata: ", DONE, b"\n\n"].concat();
                assert_eq!(probe.events(stream.chunks(3)), shown);
            } else {
                assert_eq!(probe.answer(odd), None);
                assert_eq!(probe.answer(DONE), Some(DONE.to_vec()));
            }
        }
        assert!(is_message(DONE) && !is_message(b"[]") && !is_line(DONE));
    }
}
