//! `replay --listen`: a server, a thread a connection.

use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::agent::FUNCTION_HINT;
use crate::cli::Replay;
use crate::commands::request::named;
use crate::commands::service::Service;
use crate::io::http::HttpRequest;
use crate::io::{Signals, Woken, die, report, wait_for, write_whole};
use crate::request::Refused;
use crate::status::Outcome;

/// The time in which a client may go on sending after it was answered.
const LINGER: Duration = Duration::from_secs(2);

/// Answers requests at an address until a signal comes, by which the program dies, or until COMMAND
/// has ended, if there is one: then its status is returned.
pub(super) fn listen(
    service: Service,
    address: &str,
    args: &Replay,
    signals: &Signals,
) -> anyhow::Result<u8> {
    let name = || format!("--listen {address}");
    if !address.contains(':') {
        let port = if address.parse::<u16>().is_ok() { address } else { "8080" };
        bail!("{}: name a host and a port, as 127.0.0.1:{port}; port 0 is any free one", name());
    }
    let addresses: Vec<_> = address.to_socket_addrs().with_context(name)?.collect();
    if !args.listen_anywhere && addresses.iter().any(|address| !address.ip().is_loopback()) {
        bail!("{}: others could reach it, which --listen-anywhere allows", name());
    }
    let listener = TcpListener::bind(&*addresses).with_context(name)?;
    let address = listener.local_addr().with_context(name)?;
    let url = format!("http://{address}");
    if let Some(path) = &args.port_file {
        write_whole(path, format!("{url}\n")).map_err(|error| {
            named(
                Refused { outcome: Outcome::Io, why: error.to_string() },
                &path.display().to_string(),
            )
        })?;
    }
    // It is closed once COMMAND has ended, and stays open if there is none.
    let (done, ending) = UnixStream::pair()?;
    let mut child = None;
    match args.command.split_first() {
        None => report(&mut io::stderr(), &format!("listening on {url}")),
        Some((program, arguments)) => {
            match Command::new(program).args(arguments).env("TOOLSTREAM_URL", &url).spawn() {
                Ok(started) => child = Some(started),
                Err(error) => {
                    let hint = if error.kind() == ErrorKind::NotFound { FUNCTION_HINT } else { "" };
                    report(&mut io::stderr(), &format!("{}: {error}{hint}", program.display()));
                    return Ok(Outcome::Tool as u8);
                }
            }
        }
    }
    service.note_several();
    let name = name();
    thread::Builder::new().spawn(move || accept(&Arc::new(service), &listener, &name))?;
    let process = child.as_ref().map(Pid::from_child);
    thread::Builder::new().spawn(move || {
        match process {
            // Its number stays its own until it is reaped.
            Some(process) => {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while matches!(waitid(WaitId::Pid(process), options), Err(Errno::INTR)) {}
            }
            None => loop {
                thread::park();
            },
        }
        drop(ending);
    })?;
    if let Woken::Signal(signal) = wait_for(&done, signals, None)? {
        if let (Some(process), Some(signal)) = (process, Signal::from_named_raw(signal)) {
            // It may have ended just now.
            let _ = kill_process(process, signal);
        }
        die(signal);
    }
    let Some(mut child) = child else { bail!("nothing ends it but a signal") };
    let status = child.wait()?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Answers requests, each connection in a thread of its own.
fn accept(service: &Arc<Service>, listener: &TcpListener, name: &str) {
    loop {
        let started = listener.accept().and_then(|(stream, _)| {
            let service = Arc::clone(service);
            // A client that leaves is no error of the server.
            thread::Builder::new().spawn(move || drop(serve(&service, &stream)))
        });
        if let Err(error) = started {
            report(&mut io::stderr(), &format!("{name}: {error}"));
            // There may be no descriptor or no thread left: one comes back when another ends.
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Answers the request of a connection.
fn serve(service: &Service, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(service.patience))?;
    let mut input = Timed { stream, until: Instant::now() + service.patience };
    let mut out = stream;
    let mut held = service.room.held();
    let request = HttpRequest::read(&mut input, &mut out, service.max_body, &mut held);
    let mut wait = |time| wait_beside(stream, time);
    let is_left = service.exchange(request, &mut out, &mut wait)?;
    // There is room for others before the client sees the end.
    drop(held);
    if is_left {
        // What is closed before all was read is reset, and the answer may be lost.
        stream.shutdown(Shutdown::Write)?;
        drain(Timed { stream, until: Instant::now() + LINGER });
    }
    Ok(())
}

/// Waits until a time, or for ever. Fails as soon as the client has left. What it sends meanwhile
/// is dropped.
fn wait_beside(stream: &TcpStream, time: Option<Instant>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let left = time.map(|time| time.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(());
        }
        stream.set_read_timeout(left)?;
        let mut input = stream;
        match input.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::BrokenPipe.into()),
            Ok(_) => {}
            Err(error) if is_over(&error) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_over(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Reads until there is no more to be read.
fn drain(mut input: impl Read) {
    let mut buffer = [0; 1 << 16];
    while input.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// A stream that is read until a time.
struct Timed<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use clap::Parser as _;

    use super::*;
    use crate::capture::Capture;
    use crate::cli::Replay;
    use crate::detect::KnownFormats;

    #[derive(clap::Parser)]
    struct Arguments {
        #[command(flatten)]
        replay: Replay,
    }

    /// Serves one connection with a capture of this size; a client has 100 ms for what it does after
    /// it has sent this. Returns how that ended, and after how long.
    fn serve_one(
        sent: &str,
        size: usize,
        client: impl FnOnce(TcpStream),
    ) -> (io::Result<()>, Duration) {
        serve_with(&[], sent, size, client)
    }

    fn serve_with(
        options: &[&str],
        sent: &str,
        size: usize,
        client: impl FnOnce(TcpStream),
    ) -> (io::Result<()>, Duration) {
        let text = "x".repeat(size);
        let stream =
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let captures = vec![Capture::new("a", stream.into_bytes(), &KnownFormats::default())];
        let arguments = ["replay", "a"].iter().chain(options);
        let Arguments { replay } = Arguments::parse_from(arguments);
        let mut service = Service::new(&replay, captures, None).unwrap();
        service.patience = Duration::from_millis(100);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        thread::scope(|scope| {
            let served = scope.spawn(move || {
                let (stream, _) = listener.accept().unwrap();
                let begin = Instant::now();
                (serve(&service, &stream), begin.elapsed())
            });
            client(stream);
            served.join().unwrap()
        })
    }

    #[track_caller]
    fn check_refused(mut client: TcpStream) {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("the request takes too long"), "{answer}");
    }

    #[test]
    fn a_client_that_sends_nothing_is_refused() {
        serve_one("", 1, check_refused).0.unwrap();
    }

    #[test]
    fn a_client_that_sends_slowly_is_refused() {
        let (served, _) = serve_one("", 1, |mut client| {
            // Each byte is in time, and all of them are not.
            for byte in b"GET / HT".chunks(1) {
                client.write_all(byte).unwrap();
                thread::sleep(Duration::from_millis(20));
            }
            check_refused(client);
        });
        served.unwrap();
    }

    #[test]
    fn a_client_that_leaves_is_not_waited_for() {
        let request = "POST /chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
        let (served, _) = serve_with(&["--first", "3600000"], request, 1, |_| {
            thread::sleep(Duration::from_millis(50))
        });
        let kind = served.unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{kind}");
    }

    #[test]
    fn a_client_that_does_not_read_is_left() {
        let request =
            "POST /chat/completions HTTP/1.1\r\ncontent-length: 15\r\n\r\n{\"stream\":true}";
        let (served, time) =
            serve_one(request, 64 << 20, |_client| thread::sleep(Duration::from_secs(1)));
        let kind = served.unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{kind}");
        assert!(time >= Duration::from_millis(100), "{time:?}");
    }
}
