use std::path::PathBuf;
use std::sync::Arc;

use callgate_audit::{Record, RecordKind};
use callgate_decide::{OddArguments, Oversize};
use callgate_policy::Policies;
use callgate_store::{Location, RecordReader, Store};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::*;
use crate::evaluate::Rules;
use crate::feed::FeedTiming;
use crate::health::{PolicyHealth, Status, StoreHealth};
use crate::journal::{PageError, PageLimits, RecordPage, RecordPages};
use crate::owned_socket::OwnedSocket;
use crate::problem::HintedError;
use crate::server::{ApiHost, ApiServer};

/// A gateway with a store in memory that reports this file as its store.
struct Fake {
    audit: Store,
    pid: u32,
    /// Whether its journal never ends.
    endless: bool,
}

const FILE: &str = "1:2";
const DIGEST: &str = "sha256:ab";

impl ApiHost for Fake {
    fn health(&self) -> GatewayHealth {
        GatewayHealth {
            status: Status::Ok,
            version: "0".to_owned(),
            pid: self.pid,
            config: None,
            config_digest: DIGEST.to_owned(),
            store: StoreHealth {
                location: "elsewhere".to_owned(),
                file: Some(FILE.to_owned()),
                problem: None,
            },
            policies: PolicyHealth { in_force: Vec::new(), rules: 0, rejected: None },
            restart_needed: Vec::new(),
            feeds: 0,
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            policies: Arc::new(Policies::none()),
            max_arguments: 1,
            oversize: Oversize::Judge,
            arguments: OddArguments::Judge,
            denial: Arc::default(),
        }
    }

    fn reader(&self) -> Result<RecordReader, HintedError> {
        self.audit.reader().map_err(|error| HintedError::of(&error))
    }

    fn journal(&self) -> Result<Box<dyn RecordPages>, HintedError> {
        match self.endless {
            true => Ok(Box::new(Endless)),
            false => Ok(Box::new(self.reader()?)),
        }
    }
}

struct Endless;

impl RecordPages for Endless {
    fn page(&self, after: u64, _: &Filter, limits: PageLimits) -> Result<RecordPage, PageError> {
        let (number, line) = (after.saturating_add(1), "x".repeat(limits.bytes));
        Ok(RecordPage { records: vec![(number, line)], examined_up_to: number, more: true })
    }
}

/// A server that reports this process id.
fn serve(pid: u32) -> (TempDir, PathBuf, Store) {
    serve_with(pid, false, FeedTiming::default())
}

fn serve_with(pid: u32, endless: bool, timing: FeedTiming) -> (TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.sock");
    let audit = Store::open(&callgate_store::Settings::at(Location::Memory)).unwrap();
    let host = Arc::new(Fake { audit: audit.clone(), pid, endless });
    let server = ApiServer::with_timing(OwnedSocket::take(&path).unwrap(), host, timing);
    tokio::spawn(server.serve(std::future::pending()));
    (folder, path, audit)
}

fn own() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

#[tokio::test]
async fn an_expected_gateway_is_trusted() {
    let (_folder, path, audit) = serve(std::process::id());
    let (store, digest) = (Some(FILE.to_owned()), Some(DIGEST.to_owned()));
    let expected = ExpectedGateway { store, digest, agent: None };
    let client = ApiClient::connect(&path, &expected).await.unwrap();
    assert_eq!(client.health().version, "0");
    let mut feed = client.feed(&Filter::default(), 1).await.unwrap();
    for _ in 0..3 {
        audit.append(Record::new(RecordKind::PolicyLoaded)).wait().unwrap();
    }
    for seq in [2, 3] {
        assert_eq!(feed.next().await.unwrap().seq, seq);
    }
    let silent = feed.with_max_silence(Duration::ZERO).next().await.unwrap_err();
    assert!(matches!(silent, FeedEnd::Lost(_)), "{silent:?}");
}

#[tokio::test]
async fn an_unexpected_gateway_is_not_trusted() {
    let (_folder, path, _audit) = serve(std::process::id());
    let distrust =
        async |expected: ExpectedGateway| ApiClient::connect(&path, &expected).await.unwrap_err();
    let store = ExpectedGateway { store: Some("3:4".to_owned()), ..ExpectedGateway::default() };
    assert!(matches!(distrust(store).await, Untrusted::OtherStore(_)));
    let digest =
        ExpectedGateway { digest: Some("sha256:cd".to_owned()), ..ExpectedGateway::default() };
    assert!(matches!(distrust(digest).await, Untrusted::OtherConfig(None)));
    // Processes that this process has started are refused, and the server is in this very process.
    let agent = ExpectedGateway { agent: Some(own()), ..ExpectedGateway::default() };
    assert!(matches!(distrust(agent).await, Untrusted::StartedByAgent(pid) if pid == own()));
    let (_folder, path, _audit) = serve(1);
    let other = ApiClient::connect(&path, &ExpectedGateway::default()).await.unwrap_err();
    assert!(matches!(other, Untrusted::Answer(_)), "{other}");
    let missing =
        ApiClient::connect(&path.with_file_name("none"), &ExpectedGateway::default()).await;
    assert!(matches!(missing, Err(Untrusted::NotListening(_))));
}

#[tokio::test]
async fn answers_that_no_gateway_sends_are_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "hello\r\n",
        "",
    ];
    tokio::spawn(async move {
        for answer in answers {
            let (mut peer, _) = listener.accept().await.unwrap();
            let _ = peer.read(&mut [0; 1024]).await;
            peer.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    for answer in answers {
        let distrust = ApiClient::connect(&path, &ExpectedGateway::default()).await.unwrap_err();
        assert!(matches!(distrust, Untrusted::Answer(_)), "{answer}: {distrust}");
    }
}

/// The number of open feeds of the server.
async fn feeds(path: &Path) -> usize {
    ApiClient::connect(path, &ExpectedGateway::default()).await.unwrap().health().feeds
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let short = Duration::from_millis(1);
    let timing = FeedTiming { stall: short, grace: short, ..FeedTiming::default() };
    let (_folder, path, _audit) = serve_with(std::process::id(), true, timing);
    let mut stalled = UnixStream::connect(&path).await.unwrap();
    let request = b"GET /api/v1/feed?after=0 HTTP/1.1\r\nhost: x\r\n\r\n";
    stalled.write_all(request).await.unwrap();
    // The first bytes show that the feed was open. Then nothing more is read.
    stalled.read_exact(&mut [0; 16]).await.unwrap();
    while feeds(&path).await > 0 {
        tokio::task::yield_now().await;
    }
    let mut rest = Vec::new();
    let read = stalled.read_to_end(&mut rest).await;
    assert!(read.is_err() || !rest.ends_with(b"0\r\n\r\n"), "it ended as if that were all");
}
