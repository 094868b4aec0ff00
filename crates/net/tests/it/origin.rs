//! An https server on loopback whose paths each do one wrong thing.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

pub(crate) struct Origin {
    address: SocketAddr,
    /// The certificate, which is its own root.
    pub(crate) root: Vec<u8>,
    seen: Arc<Seen>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    head: Mutex<String>,
}

impl Origin {
    /// Serves as `pictures.example`. No cryptography is installed for the process: the fetcher brings its own.
    pub(crate) async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["pictures.example".to_owned()]).unwrap();
        let root = made.cert.der().to_vec();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(root.clone())], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (acceptor, seen) = (acceptor.clone(), Arc::clone(&shared));
                tokio::spawn(async move { answer(&acceptor, stream, &seen).await });
            }
        });
        Self { address, root, seen, serving }
    }

    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.address.port())
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn last_head(&self) -> String {
        self.seen.head.lock().unwrap().clone()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A port that nobody listens on.
pub(crate) async fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

/// A port whose server takes connections and never says a word, for as long as the listener lives.
pub(crate) async fn silent() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

async fn answer(acceptor: &TlsAcceptor, stream: TcpStream, seen: &Seen) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_exact(&mut byte).await.is_err() {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    *seen.head.lock().unwrap() = head;
    // The client leaves early from many of these.
    let _ = act(&mut stream, &path).await;
    let _ = stream.shutdown().await;
}

async fn act(stream: &mut TlsStream<TcpStream>, path: &str) -> std::io::Result<()> {
    let whole = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    let text = match path {
        "/file" => whole("200 OK", "a picture"),
        "/exactly" => whole("200 OK", &"x".repeat(1000)),
        "/redirect" => "HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "/redirect-inside" => {
            "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_owned()
        }
        "/failing" => whole("500 Broken", "x"),
        "/partial" => whole("206 Partial Content", "x"),
        "/announced" => "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n".to_owned(),
        "/announced-most" => "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n".to_owned(),
        "/announced-below" => "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "/announced-twice" => {
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\na picture".to_owned()
        }
        "/more" => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more".to_owned(),
        "/chunks" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
        "/heads" => "HTTP/1.1 200 OK\r\n".to_owned(),
        "/short" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".to_owned(),
        "/garbage" => "this is not HTTP\r\n\r\n".to_owned(),
        "/compressed" => "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 14\r\n\r\n".to_owned(),
        "/endless" | "/drips" => "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned(),
        "/stalls" | "/continues" => String::new(),
        _ => whole("404 Not Found", "x"),
    };
    stream.write_all(text.as_bytes()).await?;
    match path {
        "/compressed" => stream.write_all(b"\x1f\x8bnot inflated").await?,
        "/endless" => loop {
            stream.write_all(&[b'x'; 512]).await?;
            stream.flush().await?;
        },
        "/chunks" => loop {
            stream.write_all(b"5\r\nchunk\r\n").await?;
            stream.flush().await?;
        },
        "/heads" => loop {
            stream.write_all(b"X-More: and more and more and more\r\n").await?;
            stream.flush().await?;
        },
        "/continues" => loop {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            stream.flush().await?;
        },
        "/drips" => loop {
            stream.write_all(b"x").await?;
            stream.flush().await?;
            tokio::time::sleep(Duration::from_millis(200)).await;
        },
        "/stalls" => tokio::time::sleep(Duration::from_mins(1)).await,
        _ => {}
    }
    stream.flush().await
}
