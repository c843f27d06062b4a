//! A thousand streams at once, with readers slower than the upstream.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Upstream;

use crate::clients::small_connection;
use crate::frames::long_turn;
use crate::process::{MIB, memory, raise_own_files};
use crate::support::{ALLOW, MESSAGES, ask, gateway, setup};

/// Streams at once.
const STREAMS: usize = 1000;

/// Frames in each, some 300 KiB.
const FRAMES: usize = 2500;

/// Longer than it takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client that reads a little at a time.
struct Slow {
    stream: TcpStream,
    read: usize,
    /// The end of what came.
    tail: Vec<u8>,
    ended: bool,
}

impl Slow {
    fn open(gateway: &Gateway) -> Self {
        let mut stream = small_connection(gateway.address());
        stream.write_all(&ask(MESSAGES).to_bytes(gateway.address())).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { stream, read: 0, tail: Vec::new(), ended: false }
    }

    /// Reads a little, if there is something.
    fn sip(&mut self) {
        let mut buffer = [0; 8192];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(read) => {
                self.read += read;
                self.tail.extend(&buffer[..read]);
                let old = self.tail.len().saturating_sub(1024);
                self.tail.drain(..old);
                self.ended = self.tail.ends_with(b"\r\n0\r\n\r\n");
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("cut off after {} bytes: {error}", self.read),
        }
    }
}

#[test]
fn a_thousand_streams_with_slow_readers_stay_within_bounds() {
    // Each stream takes three files of this process: its client, its server and a copy of that.
    let files = raise_own_files();
    let streams = STREAMS.min(usize::try_from(files.saturating_sub(500) / 4).unwrap());
    let (answer, length) = long_turn(MESSAGES, FRAMES);
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    let base = memory(&gateway);
    let mut clients: Vec<Slow> = (0..streams).map(|_| Slow::open(&gateway)).collect();
    let all = |upstream: &Upstream| upstream.requests().len() == streams;
    assert!(upstream.wait_until(all), "{} of {streams}", upstream.requests().len());
    let most = sip_to_the_end(&gateway, &mut clients);
    eprintln!(
        "{streams} streams of {} KiB: {} KiB before, {} KiB at most, {} KiB afterwards",
        length >> 10,
        base >> 10,
        most >> 10,
        memory(&gateway) >> 10
    );
    for client in &clients {
        assert!(client.read >= length, "{} of {length} bytes", client.read);
        assert!(String::from_utf8_lossy(&client.tail).contains("message_stop"));
    }
    assert!(most < base + 200 * MIB, "from {base} to {most} bytes");
    assert_eq!(gateway.calls().len(), streams);
}

/// Lets all of them read in turn; the most memory that the gateway had meanwhile.
fn sip_to_the_end(gateway: &Gateway, clients: &mut [Slow]) -> usize {
    let end = Instant::now() + PATIENCE;
    let mut most = 0;
    while clients.iter().any(|client| !client.ended) {
        assert!(Instant::now() < end, "it hangs");
        most = most.max(memory(gateway));
        clients.iter_mut().filter(|client| !client.ended).for_each(Slow::sip);
        thread::sleep(Duration::from_millis(20));
    }
    most
}

#[test]
fn the_usual_limit_of_files_is_no_limit_of_streams() {
    raise_own_files();
    let (answer, length) = long_turn(MESSAGES, 100);
    let upstream = Upstream::always(answer.step(callgate_testkit::upstream::AnswerStep::Stall));
    // As a shell would start it, only less.
    let few = ["sh", "-c", "ulimit -S -n 100; exec \"$@\"", "sh"];
    let gateway = setup(&upstream, ALLOW, "").under(&few).start();
    let mut clients: Vec<Slow> = (0..300).map(|_| Slow::open(&gateway)).collect();
    let all = |upstream: &Upstream| upstream.requests().len() == 300;
    assert!(upstream.wait_until(all), "{} of 300", upstream.requests().len());
    upstream.release();
    sip_to_the_end(&gateway, &mut clients);
    assert!(clients.iter().all(|client| client.read >= length));
}

#[test]
fn with_few_files_clients_wait_for_each_other() {
    raise_own_files();
    let (answer, length) = long_turn(MESSAGES, 100);
    let upstream = Upstream::always(answer.pause(20));
    let few = ["sh", "-c", "ulimit -n 100; exec \"$@\"", "sh"];
    let gateway = setup(&upstream, ALLOW, "").under(&few).start();
    // Each leaves when it has its answer, and so makes room for another.
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let reply = ask(MESSAGES).header("connection", "close").send(gateway.address());
                assert_eq!((reply.status, reply.body.len()), (200, length), "{}", reply.text());
            });
        }
    });
}
