//! A proxy in front of a provider: each answer goes through untouched and live, and every call that
//! is safe to run is logged as soon as it is whole.
//!
//! ```sh
//! cargo run --manifest-path tests/examples/proxy/Cargo.toml -- 127.0.0.1:8080 http://localhost:11434
//! ```

use std::{env, io};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt as _;
use tokio::net::TcpListener;
use toolstream::event::{Event, Kind};
use toolstream::sink::Sink;
use toolstream::{Config, Pipeline};

/// Logs the calls of one answer.
struct Log;

impl Sink for Log {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event.kind {
            Kind::ToolCall(call) => eprintln!("{}({})", call.name, call.input.as_str()),
            Kind::Error(failure) => eprintln!("failed: {}", failure.message),
            _ => {}
        }
        Ok(())
    }
}

/// The pipeline of one answer, which ends with it.
struct Watch(Pipeline);

impl Watch {
    /// Says that the log has failed. From then on the pipeline hands on nothing: a call could lack
    /// what was lost. The answer goes on to the client all the same.
    fn note(result: io::Result<()>) {
        if let Err(error) = result {
            eprintln!("the log failed: {error}");
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        Watch::note(self.0.finish(&mut Log));
    }
}

async fn pass(provider: String, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let url = format!("{provider}{uri}");
    let mut request = reqwest::Client::new().post(url).body(body);
    for name in [header::AUTHORIZATION, header::CONTENT_TYPE] {
        request = request
            .headers(headers.get(&name).map(|value| (name, value.clone())).into_iter().collect());
    }
    let answer = match request.send().await {
        Ok(answer) => answer,
        Err(error) => return (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    };
    let mut response = Response::builder().status(answer.status());
    if let Some(kind) = answer.headers().get(header::CONTENT_TYPE) {
        response = response.header(header::CONTENT_TYPE, kind);
    }
    let mut watch = Watch(Pipeline::new(&Config::default()));
    let bytes = answer.bytes_stream().inspect_ok(move |bytes| {
        if !watch.0.is_stopped() {
            Watch::note(watch.0.feed(bytes, &mut Log));
        }
    });
    response
        .body(Body::from_stream(bytes))
        .unwrap_or_else(|error| error.to_string().into_response())
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let (Some(address), Some(provider)) = (args.next(), args.next()) else {
        return Err(io::Error::other("proxy ADDRESS PROVIDER"));
    };
    let listener = TcpListener::bind(address).await?;
    eprintln!("listening on {}", listener.local_addr()?);
    let app = Router::new()
        .fallback(move |uri, headers, body| pass(provider.clone(), uri, headers, body));
    axum::serve(listener, app).await
}
