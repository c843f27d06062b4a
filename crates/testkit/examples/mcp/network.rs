//! The same over HTTP: a server directly, and behind `callgate serve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use callgate_testkit::gateway::{Gateway, Setup};

use crate::client::{Client, arguments};
use crate::ways::{RULES, Way};
use crate::{Args, CALLS, MANY, Measured, server, table};

pub(crate) fn measure(args: &Args) -> Result<()> {
    let server = serve()?;
    let gateway = |durability| {
        let config = format!(
            "policies: [rules.yaml]\naudit: {{ durability: {durability} }}\n\
             mcp: {{ servers: {{ bench: {{ url: \"http://{server}/mcp\" }} }} }}\n"
        );
        Setup::bare(Path::new(&args.callgate)).file("rules.yaml", RULES).config(&config).start()
    };
    let (process, disk) = (gateway("process"), gateway("disk"));
    let behind = |gateway: &Gateway| (gateway.address(), "/mcp/bench");
    let ways = [
        (Way::Direct, (server, "/mcp")),
        (Way::Process, behind(&process)),
        (Way::Disk, behind(&disk)),
    ];
    let mut results = Vec::new();
    for (way, place) in ways {
        let mut line = Line::open(place)?;
        (0..50).try_for_each(|_| line.call().map(drop))?;
        results.push((way, line, place, Measured::default()));
    }
    for round in 0..args.rounds {
        for turn in 0..results.len() {
            let at = (round + turn) % results.len();
            let (_, line, place, measured) = results.get_mut(at).context("one of them")?;
            for _ in 0..CALLS {
                measured.calls.push(line.call()?);
            }
            measured.rates.push(MANY as f64 / many(*place)?.as_secs_f64());
        }
    }
    let results: Vec<_> = results.into_iter().map(|(way, _, _, it)| (way, it)).collect();
    table::print(&results);
    Ok(())
}

/// Calls on several connections at once.
fn many(place: (SocketAddr, &'static str)) -> Result<Duration> {
    let lines: Result<Vec<Line>> = (0..Client::AT_ONCE).map(|_| Line::open(place)).collect();
    let begun = Instant::now();
    let calling: Vec<_> = lines?
        .into_iter()
        .map(|mut line| {
            thread::spawn(move || {
                (0..MANY / Client::AT_ONCE).try_for_each(|_| line.call().map(drop))
            })
        })
        .collect();
    for calls in calling {
        calls.join().ok().context("a client broke")??;
    }
    Ok(begun.elapsed())
}

/// A connection that is kept.
struct Line {
    stream: BufReader<TcpStream>,
    path: &'static str,
    next: u64,
}

impl Line {
    fn open((address, path): (SocketAddr, &'static str)) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), path, next: 0 })
    }

    fn call(&mut self) -> Result<Duration> {
        self.next += 1;
        let body = serde_json::json!({
            "jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": arguments("echo"),
        });
        let (body, path) = (body.to_string(), self.path);
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let begun = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes())?;
        let answer = message(&mut self.stream)?.context("the server ended")?;
        let took = begun.elapsed();
        ensure!(answer.contains("Echo: "), "not what was asked for: {answer}");
        Ok(took)
    }
}

/// The body of the next message of HTTP; `None` at the end of the connection.
fn message(stream: &mut BufReader<TcpStream>) -> Result<Option<String>> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim_end().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if header.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(String::from_utf8(body)?))
}

/// A server that does nothing but answer, until we end.
fn serve() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer_all(stream).ok());
        }
    });
    Ok(address)
}

fn answer_all(stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(asked) = message(&mut stream)? {
        let answer = server::answer(&asked)?;
        let (status, body) = match &answer {
            Some(answer) => ("200 OK", answer.as_str()),
            None => ("202 Accepted", ""),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.get_mut().write_all(head.as_bytes())?;
    }
    Ok(())
}
