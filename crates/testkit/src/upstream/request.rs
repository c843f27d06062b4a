//! A request as it came.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// Larger heads and bodies than any test sends.
const HEAD: usize = 256 << 10;
const BODY: usize = 64 << 20;

/// A request as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// Names in lower case, values as sent, in order.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// Which connection it came on, counted from 0.
    pub connection: usize,
}

impl Request {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name)?;
        Some(header.1.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Reads the next request. `None` at the end of the connection.
    pub(crate) fn read(
        reader: &mut BufReader<TcpStream>,
        connection: usize,
    ) -> Result<Option<Self>, Error> {
        let mut request = Self { connection, ..Self::default() };
        let mut left = HEAD;
        let Some(first) = line(reader, &mut left)? else { return Ok(None) };
        let mut words = first.split(' ');
        request.method = words.next().unwrap_or_default().to_owned();
        request.path = words.next().unwrap_or_default().to_owned();
        while let Some(line) = line(reader, &mut left)?.filter(|line| !line.is_empty()) {
            let (name, value) =
                line.split_once(':').ok_or_else(|| bad("a header without colon"))?;
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if request.header("expect").is_some() {
            reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = request.read_body(reader)?;
        Ok(Some(request))
    }

    fn read_body(&self, reader: &mut BufReader<TcpStream>) -> Result<Vec<u8>, Error> {
        if self.header("transfer-encoding").is_some() {
            return read_chunks(reader);
        }
        let length = self.header("content-length").map_or(Ok(0), str::parse);
        let length: usize = length.map_err(|_| bad("content-length is not a number"))?;
        if length > BODY {
            return Err(bad("the body is too large"));
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(body)
    }
}

/// The next line without its end; `None` at the end of the connection.
pub(crate) fn line(reader: &mut impl BufRead, left: &mut usize) -> Result<Option<String>, Error> {
    let mut line = Vec::new();
    let read = reader.take(*left as u64).read_until(b'\n', &mut line)?;
    *left -= read;
    match read {
        0 => Ok(None),
        _ if !line.ends_with(b"\n") => Err(bad("the head is cut off or too long")),
        _ => Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())),
    }
}

/// A chunked body to its end, trailers left out.
pub(crate) fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while let Some(chunk) = read_chunk(reader)? {
        body.extend(chunk);
        if body.len() > BODY {
            return Err(bad("the body is too large"));
        }
    }
    Ok(body)
}

/// The next chunk; `None` is the end that was meant.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, Error> {
    let mut left = HEAD;
    let head = line(reader, &mut left)?.ok_or_else(|| bad("cut off before a chunk"))?;
    let size = head.split(';').next().unwrap_or_default().trim();
    let size = usize::from_str_radix(size, 16).map_err(|_| bad("a chunk without size"))?;
    if size == 0 {
        while line(reader, &mut left)?.is_some_and(|line| !line.is_empty()) {}
        return Ok(None);
    }
    if size > BODY {
        return Err(bad("the chunk is too large"));
    }
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk)?;
    chunk.truncate(size);
    Ok(Some(chunk))
}

pub(crate) fn bad(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}
