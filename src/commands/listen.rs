//! `replay --listen`: a server, a thread a connection.

use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::commands::service::{PATIENCE, Service};
use crate::io::http::Request;
use crate::io::{Signals, Woken, die, report, wait_for};

/// The time in which a client may go on sending after it was answered.
const LINGER: Duration = Duration::from_secs(2);

/// Answers requests at an address until a signal comes, by which the program dies.
pub(super) fn listen(
    service: Service,
    address: &str,
    may_be_reached: bool,
    signals: &Signals,
) -> anyhow::Result<u8> {
    let name = || format!("--listen {address}");
    let addresses: Vec<_> = address.to_socket_addrs().with_context(name)?.collect();
    if !may_be_reached && addresses.iter().any(|address| !address.ip().is_loopback()) {
        bail!("{}: others could reach it, which --listen-anywhere allows", name());
    }
    let listener = TcpListener::bind(&*addresses).with_context(name)?;
    // A client may have left between poll and accept.
    listener.set_nonblocking(true).with_context(name)?;
    let address = listener.local_addr().with_context(name)?;
    report(&mut io::stderr(), &format!("listening on http://{address}"));
    let service = Arc::new(service);
    loop {
        if let Woken::Signal(signal) = wait_for(&listener, signals, None)? {
            die(signal);
        }
        let started = listener.accept().and_then(|(stream, _)| {
            stream.set_nonblocking(false)?;
            let service = Arc::clone(&service);
            // A client that leaves is no error of the server.
            thread::Builder::new().spawn(move || serve(&service, &stream).unwrap_or_default())
        });
        match started {
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                report(&mut io::stderr(), &format!("{}: {error}", name()));
                // There may be no descriptor or no thread left: one comes back when another ends.
                thread::sleep(Duration::from_millis(100));
            }
            _ => {}
        }
    }
}

/// Answers the request of a connection.
fn serve(service: &Service, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = Timed { stream, until: Instant::now() + PATIENCE };
    let mut out = stream;
    let request = Request::read(&mut input, &mut out, service.max_body);
    let mut wait = |time: Option<Instant>| match time {
        Some(time) => {
            thread::sleep(time.saturating_duration_since(Instant::now()));
            Ok(())
        }
        // Until the client leaves.
        None => {
            stream.set_read_timeout(None)?;
            drain(stream);
            Err(ErrorKind::BrokenPipe.into())
        }
    };
    if service.exchange(request, &mut out, &mut wait)? {
        // What is closed before all was read is reset, and the answer may be lost.
        stream.shutdown(Shutdown::Write)?;
        drain(Timed { stream, until: Instant::now() + LINGER });
    }
    Ok(())
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
