//! `callgate demo`: a scripted model, the gateway and a client in one process.
//!
//! Nothing in it is pretended: the model sends bytes over a socket, the gateway judges them with a
//! policy and writes records, and the client shows what arrives.

mod client;
mod model;
mod show;

use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_audit::{Filter, RecordKind, RecordOrder};
use callgate_call::Surface;
use callgate_decide::Decider;
use callgate_dialect::Dialect;
use callgate_document::Source;
use callgate_effects::Catalogue;
use callgate_gate::{GateLimits, Malformed, OnDeny};
use callgate_policy::Policies;
use callgate_proxy::{
    BoundGateway, ContinueSettings, Inbound, InspectionMode, Mounts, ProviderSettings, Timeouts,
};
use callgate_store::{Durability, Location, Store};

use crate::args;
use crate::exit::Exit;
use crate::render;

/// One rule for the demo, in addition to the built-in policy.
const POLICY: &str = "\
policy: demo
rules:
  - id: no-mail
    tool: send_email
    verdict: deny
    reason: This agent does not send mail.
    hint: Write the draft to a file and say where it is.
";

pub(crate) fn run(args: &args::DemoArgs) -> Result<Exit> {
    let pause = Duration::from_millis(if args.fast { 15 } else { 120 });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(play(pause))
}

async fn play(pause: Duration) -> Result<Exit> {
    let audit = Store::open(&callgate_store::Settings {
        durability: Durability::Process,
        ..callgate_store::Settings::at(Location::Memory)
    })?;
    let decider =
        Decider::new(Some(policies()?), audit.clone(), callgate_decide::Settings::default());
    let model = model::DemoModel::start().await?;
    let server = BoundGateway::start(settings(&model)?, decider, Mounts::default()).await?;
    let address = server.address()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(async {
        let _ = stopped.await;
    }));

    render::print(show::OPENING)?;
    let mut client = client::Client::ask(address).await?;
    model.answers().await?;
    let mut table = show::DemoTable::begin()?;
    for frame in model::SCRIPT {
        model.send(frame).await?;
        let got = client.gets(pause).await?;
        table.row(Some(frame), &got)?;
    }
    model.end().await;
    table.row(None, &client.rest().await?)?;

    audit.flush().await.context("the records could not be written")?;
    let filter = Filter {
        kinds: vec![RecordKind::ToolCall],
        order: RecordOrder::OldestFirst,
        ..Filter::default()
    };
    let records = audit.reader()?.records(&filter)?;
    render::print(&show::records(&records))?;
    render::print(&show::closing(POLICY))?;
    let _ = stop.send(());
    serving.await.context("the gateway did not stop")?;
    Ok(Exit::Success)
}

fn policies() -> Result<Policies> {
    let demo = Source { name: "demo.yaml".to_owned(), text: POLICY.to_owned() };
    let sources = [callgate_policy::starter(), demo];
    let compiled = Policies::compile_for(&sources, &Catalogue::builtin(), &[Surface::Response]);
    compiled.map(|(policies, _)| policies).map_err(|problems| anyhow::anyhow!("{problems:?}"))
}

fn settings(model: &model::DemoModel) -> Result<callgate_proxy::Settings> {
    let base_url = format!("http://{}", model.address()?).parse()?;
    let dialect = Dialect::Anthropic;
    Ok(callgate_proxy::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        providers: vec![ProviderSettings {
            name: "anthropic".to_owned(),
            base_url,
            dialect,
            api_key: None,
        }],
        mode: InspectionMode::Full,
        inbound: Inbound::Reject,
        on_deny: OnDeny::Explain,
        continuing: ContinueSettings::default(),
        malformed: Malformed::Withhold,
        limits: GateLimits::default(),
        request_body: 1 << 20,
        passthrough: Vec::new(),
        workers: 1,
        timeouts: Timeouts { shutdown: Duration::from_secs(1), ..Timeouts::default() },
        max_connections: 8,
    })
}
