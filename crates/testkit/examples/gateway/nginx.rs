//! nginx as a plain reverse proxy: one worker, no buffering, kept connections.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::proxy::Start;

pub(crate) fn command(start: &Start, address: SocketAddr, home: &Path) -> Result<Command> {
    let file = home.join("nginx.conf");
    std::fs::write(&file, config(start.upstream, address, &home.display().to_string()))?;
    let mut command = Command::new(&start.nginx);
    command.arg("-p").arg(home).arg("-c").arg(&file).args(["-e", "stderr"]);
    Ok(command)
}

fn config(upstream: SocketAddr, listen: SocketAddr, home: &str) -> String {
    format!(
        "daemon off;
worker_processes 1;
pid {home}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  keepalive_requests 10000000;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  upstream model {{ server {upstream}; keepalive 256; keepalive_requests 10000000; }}
  server {{
    listen {listen} backlog=4096;
    client_max_body_size 32m;
    location / {{
      proxy_pass http://model;
      proxy_http_version 1.1;
      proxy_set_header Connection \"\";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }}
  }}
}}
"
    )
}
