//! Plays answers on a connection.

use std::io::{BufReader, Error, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::answer::{Answer, AnswerFeed, AnswerStep, BodyEnd};
use super::request::Request;
use super::{PATIENCE, Shared};

/// How an answer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Played {
    /// To its end.
    Whole,
    /// The peer went away before.
    PeerLeft,
    /// It was scripted to disconnect early.
    Broken,
}

/// How often a waiting script looks whether the peer is still there.
const LOOK: Duration = Duration::from_millis(10);

/// Serves one connection to its end.
pub(crate) fn connection(
    stream: TcpStream,
    number: usize,
    handler: &dyn Fn(&Request) -> Answer,
    shared: &Shared,
) {
    // A peer that takes nothing for this long is a test that hangs.
    stream.set_write_timeout(Some(PATIENCE)).ok();
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = Request::read(&mut reader, number) {
        shared.record(&request);
        let answer = handler(&request);
        let is_head = request.method == "HEAD";
        let played = Player { stream: reader.get_mut(), shared }.play(&answer, is_head);
        shared.count(played);
        let ends = matches!(answer.framing, BodyEnd::Close | BodyEnd::Raw);
        if played != Played::Whole || ends || shared.is_stopped() {
            break;
        }
    }
    shared.forget(reader.get_ref());
    if !is_reset(reader.get_ref()) {
        reader.get_ref().shutdown(Shutdown::Both).ok();
    }
}

/// Whether closing the socket is to send a reset: a shutdown would send an orderly end before it.
fn is_reset(stream: &TcpStream) -> bool {
    matches!(SockRef::from(stream).linger(), Ok(Some(Duration::ZERO)))
}

struct Player<'a> {
    stream: &'a mut TcpStream,
    shared: &'a Shared,
}

impl Player<'_> {
    fn play(&mut self, answer: &Answer, is_head: bool) -> Played {
        match self.try_play(answer, is_head) {
            Ok(played) => played,
            Err(_) => Played::PeerLeft,
        }
    }

    fn try_play(&mut self, answer: &Answer, is_head: bool) -> Result<Played, Error> {
        self.stream.write_all(&answer.head())?;
        if is_head {
            return Ok(Played::Whole);
        }
        let framing = answer.framing;
        for step in &answer.steps {
            match step {
                AnswerStep::Send(bytes) => self.send(framing, bytes)?,
                AnswerStep::Dribble(bytes) => {
                    bytes.chunks(1).try_for_each(|byte| self.send(framing, byte))?;
                }
                AnswerStep::Repeat(bytes, times, pause) => {
                    for _ in 0..*times {
                        self.send(framing, bytes)?;
                        self.wait(*pause)?;
                    }
                }
                AnswerStep::Pause(pause) => self.wait(*pause)?,
                AnswerStep::Stall => self.stall()?,
                AnswerStep::Feed(feed) => self.feed(framing, feed)?,
                AnswerStep::Cut => return Ok(Played::Broken),
                AnswerStep::Reset => {
                    SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO))?;
                    return Ok(Played::Broken);
                }
            }
        }
        if framing == BodyEnd::Chunked {
            self.stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(Played::Whole)
    }

    fn send(&mut self, framing: BodyEnd, bytes: &[u8]) -> Result<(), Error> {
        if self.shared.is_stopped() {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        match framing {
            BodyEnd::Chunked => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                self.stream.write_all(&chunk)?;
            }
            BodyEnd::Length | BodyEnd::Close | BodyEnd::Raw => self.stream.write_all(bytes)?,
        }
        self.shared.count_sent(bytes.len());
        Ok(())
    }

    /// Waits so long, or fails when the peer goes.
    fn wait(&mut self, pause: Duration) -> Result<(), Error> {
        let end = Instant::now() + pause.min(PATIENCE);
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            self.look()?;
            thread::sleep(left.min(LOOK));
        }
        Ok(())
    }

    /// Waits for the release. Without one the answer is cut off: going on would look like one.
    fn stall(&mut self) -> Result<(), Error> {
        self.feed(BodyEnd::Raw, &AnswerFeed::default())
    }

    /// Sends what it is fed until the release.
    fn feed(&mut self, framing: BodyEnd, feed: &AnswerFeed) -> Result<(), Error> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let released = self.shared.wait_released(LOOK);
            while let Some(piece) = feed.next() {
                self.send(framing, &piece)?;
            }
            if released {
                return Ok(());
            }
            self.look()?;
        }
        Err(ErrorKind::TimedOut.into())
    }

    /// Fails if the peer went away.
    fn look(&mut self) -> Result<(), Error> {
        if self.shared.is_stopped() {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        self.stream.set_nonblocking(true)?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match seen {
            Ok(0) => Err(ErrorKind::ConnectionAborted.into()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }
}
