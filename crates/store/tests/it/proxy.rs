//! A way to PostgreSQL that can be cut at a chosen instant.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, Ordering},
    },
};

use store::Place;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    task::JoinHandle,
};
use tokio_postgres::config::Host;

/// What happens to the next COMMIT that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cut {
    /// It goes on its way.
    Never = 0,
    /// It never arrives.
    Before = 1,
    /// It arrives and both ends are closed at once.
    With = 2,
    /// It is carried out and the answer never comes back.
    After = 3,
    /// Every connection is closed as it comes.
    Everything = 4,
}

pub(crate) struct Proxy {
    address: SocketAddr,
    place: Place,
    cut: Arc<AtomicU8>,
    cuts: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// In front of a PostgreSQL place.
    pub(crate) async fn new(place: &Place) -> Self {
        let Place::Postgres(url) = place else { panic!("only PostgreSQL is far away") };
        let config: tokio_postgres::Config = url.parse().unwrap();
        let (host, port) =
            (config.get_hosts()[0].clone(), config.get_ports().first().copied().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let secret = config.get_password().map(|word| format!(":{}", String::from_utf8_lossy(word)));
        let place = Place::Postgres(format!(
            "postgres://{}{}@{address}/{}",
            config.get_user().unwrap_or("postgres"),
            secret.unwrap_or_default(),
            config.get_dbname().unwrap()
        ));
        let (cut, cuts) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicU32::new(0)));
        let (cut_here, cuts_here) = (Arc::clone(&cut), Arc::clone(&cuts));
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if cut_here.load(Ordering::SeqCst) == Cut::Everything as u8 {
                    continue;
                }
                let (cut, cuts, host) = (Arc::clone(&cut_here), Arc::clone(&cuts_here), host.clone());
                tokio::spawn(async move {
                    match host {
                        Host::Tcp(name) => {
                            carry(
                                client,
                                TcpStream::connect((name.as_str(), port)).await.unwrap(),
                                &cut,
                                &cuts,
                            )
                            .await;
                        }
                        Host::Unix(directory) => {
                            let path = directory.join(format!(".s.PGSQL.{port}"));
                            carry(client, UnixStream::connect(path).await.unwrap(), &cut, &cuts).await;
                        }
                    }
                });
            }
        });
        Self { address, place, cut, cuts, task }
    }

    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Arms the next cut; [`Cut::Everything`] and [`Cut::Never`] stay until changed.
    pub(crate) fn arm(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }

    pub(crate) fn cuts(&self) -> u32 {
        self.cuts.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        assert!(self.address.ip().is_loopback());
    }
}

/// Carries bytes both ways until one side ends or the cut falls.
async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: TcpStream,
    mut server: S,
    cut: &AtomicU8,
    cuts: &AtomicU32,
) {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(length @ 1..) = read else { return };
                let bytes = &up[..length];
                let everything = cut.load(Ordering::SeqCst) == Cut::Everything as u8;
                if everything {
                    return;
                }
                let is_commit = bytes.windows(7).any(|window| window == b"COMMIT\0");
                let armed = if is_commit { cut.swap(0, Ordering::SeqCst) } else { 0 };
                if armed == Cut::Before as u8 {
                    cuts.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                if server.write_all(bytes).await.is_err() || server.flush().await.is_err() {
                    return;
                }
                if armed != 0 {
                    cuts.fetch_add(1, Ordering::SeqCst);
                    if armed == Cut::After as u8 {
                        // The answer to COMMIT ends with "ready for query"; it is read and kept back.
                        let mut answer = Vec::new();
                        while !answer.windows(7).any(|window| window == b"COMMIT\0") {
                            let Ok(length @ 1..) = server.read(&mut down).await else { break };
                            answer.extend_from_slice(&down[..length]);
                        }
                    }
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&down[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
