//! A way to PostgreSQL that can be taken down and put up again at the same address.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use url::Url;

pub(crate) struct Relay {
    target: Target,
    url: String,
    address: SocketAddr,
    up: Option<(Arc<Open>, JoinHandle<()>)>,
}

/// Where the real server listens.
#[derive(Debug, Clone)]
enum Target {
    Tcp(String),
    Unix(PathBuf),
}

#[derive(Default)]
struct Open {
    streams: Mutex<Vec<Stream>>,
    closing: AtomicBool,
}

impl Relay {
    /// In front of the server of this URL.
    pub(crate) fn new(url: &str) -> Self {
        let mut url: Url = url.parse().unwrap();
        let named = url.query_pairs().find(|(name, _)| name == "host").map(|(_, value)| value.into_owned());
        let host = named.or_else(|| url.host_str().map(str::to_owned)).unwrap_or_default();
        let port = url.port().unwrap_or(5432);
        let target = if host.starts_with('/') {
            Target::Unix(PathBuf::from(host).join(format!(".s.PGSQL.{port}")))
        } else {
            Target::Tcp(format!("{host}:{port}"))
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        url.set_query(None);
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(address.port())).unwrap();
        let mut relay = Self { target, url: url.to_string(), address, up: None };
        relay.accept_on(listener);
        relay
    }

    /// The URL by way of this.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts every connection; new ones are refused.
    pub(crate) fn take_down(&mut self) {
        let Some((open, accepting)) = self.up.take() else { return };
        open.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        accepting.join().unwrap();
        for stream in open.streams.lock().unwrap().drain(..) {
            stream.end();
        }
    }

    pub(crate) fn put_up(&mut self) {
        let listener = TcpListener::bind(self.address).unwrap();
        self.accept_on(listener);
    }

    fn accept_on(&mut self, listener: TcpListener) {
        let open = Arc::new(Open::default());
        let (target, shared) = (self.target.clone(), Arc::clone(&open));
        let accepting = thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if shared.closing.load(Ordering::SeqCst) {
                    return;
                }
                let server = match &target {
                    Target::Tcp(at) => Stream::Tcp(TcpStream::connect(at).unwrap()),
                    Target::Unix(path) => Stream::Unix(UnixStream::connect(path).unwrap()),
                };
                shared.carry(Stream::Tcp(client), server);
            }
        });
        self.up = Some((open, accepting));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.take_down();
    }
}

impl Open {
    /// Copies both ways until one side ends.
    fn carry(&self, client: Stream, server: Stream) {
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (mut from, mut to) = (from.again(), to.again());
            thread::spawn(move || {
                // A cut ends it by an error, which is what a cut is.
                let _ = io::copy(&mut from, &mut to);
                from.end();
                to.end();
            });
        }
        self.streams.lock().unwrap().extend([client, server]);
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn again(&self) -> Self {
        match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone().unwrap()),
            Self::Unix(stream) => Self::Unix(stream.try_clone().unwrap()),
        }
    }

    fn end(&self) {
        // The other side may have ended it already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
        }
    }
}
