//! The admin socket: a server that holds the store does what `arena admin` asks.
//!
//! `admin.sock` in the data directory, for the owner only. One JSON request line, one JSON response
//! line, then the connection ends. Whoever may open the socket may do everything.

use std::{
    fs::{File, Permissions},
    io,
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
};
use tokio_util::sync::CancellationToken;

use super::{
    execute::Office,
    request::{AdminRequest, AdminResponse, Refusal, RefusalKind},
};

const SOCKET_NAME: &str = "admin.sock";
/// The longest request; the largest answer is a list of everybody.
const REQUEST_BYTES_MAX: u64 = 64 * 1024;
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// From connecting to the end of the request line.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// How long a command waits for its answer; a check of a large ledger takes the longest.
const ANSWER_TIME: Duration = Duration::from_mins(2);
/// Paths of sockets may be this long; longer ones go by way of an open directory.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// A path that is short enough for a socket, and the open directory that keeps it valid.
struct SocketPath {
    path: PathBuf,
    _directory: Option<File>,
}

fn socket_path(data_dir: &Path, name: &str) -> io::Result<SocketPath> {
    let path = data_dir.join(name);
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok(SocketPath { path, _directory: None });
    }
    let directory = File::open(data_dir)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()));
    Ok(SocketPath { path, _directory: Some(directory) })
}

/// A bound socket; dropping it removes the file.
pub(crate) struct AdminSocket {
    listener: UnixListener,
    file: PathBuf,
}

impl AdminSocket {
    /// Binds the socket. The caller holds the store, so a file left by a killed server is replaced.
    pub(crate) fn bind(data_dir: &Path) -> io::Result<Self> {
        // Bound under another name first, so that the socket never exists with wider permissions.
        let draft_name = format!("{SOCKET_NAME}.{}", std::process::id());
        let draft = socket_path(data_dir, &draft_name)?;
        let draft_file = data_dir.join(&draft_name);
        match std::fs::remove_file(&draft_file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&draft.path)?;
        std::fs::set_permissions(&draft_file, Permissions::from_mode(0o600))?;
        let file = data_dir.join(SOCKET_NAME);
        std::fs::rename(&draft_file, &file)?;
        Ok(Self { listener, file })
    }

    /// Answers until `shutdown`, then lets a request that has begun end.
    pub(crate) async fn serve(self, office: Office, shutdown: CancellationToken) {
        let mut running = tokio::task::JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = shutdown.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let office = office.clone();
                    running.spawn(async move {
                        if let Err(error) = converse(stream, &office).await {
                            tracing::debug!(%error, "an admin connection broke off");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "an admin connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            while running.try_join_next().is_some() {}
        }
        drop(self);
        running.join_all().await;
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        // A socket that is gone already is what was wanted.
        let _ = std::fs::remove_file(&self.file);
    }
}

async fn converse(stream: UnixStream, office: &Office) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    let mut reader = BufReader::new(reader.take(REQUEST_BYTES_MAX));
    tokio::time::timeout(REQUEST_TIME, reader.read_line(&mut line)).await.map_err(io::Error::other)??;
    let response = match serde_json::from_str::<AdminRequest>(&line) {
        Ok(request) => office.answer(request).await,
        Err(error) => AdminResponse::Refused(Refusal {
            kind: RefusalKind::Refused,
            message: format!(
                "the admin request cannot be read ({error}); use an arena of the server's version"
            ),
        }),
    };
    let mut answer = serde_json::to_vec(&response)?;
    answer.push(b'\n');
    writer.write_all(&answer).await?;
    writer.shutdown().await
}

/// Asks the server that holds the data directory; `None` when there is none.
pub(crate) async fn ask(data_dir: &Path, request: &AdminRequest) -> io::Result<Option<AdminResponse>> {
    let at = match socket_path(data_dir, SOCKET_NAME) {
        Ok(at) => at,
        Err(error) if nobody(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let stream = match UnixStream::connect(&at.path).await {
        Ok(stream) => stream,
        // No socket, or one whose server was killed.
        Err(error) if nobody(&error) => return Ok(None),
        // A directory that cannot be entered hides its socket; opening the store says whose it is.
        Err(_) if std::fs::symlink_metadata(data_dir.join(SOCKET_NAME)).is_err() => return Ok(None),
        Err(error) => return Err(error),
    };
    let (reader, mut writer) = stream.into_split();
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    writer.write_all(&line).await?;
    let mut answer = Vec::new();
    let mut bounded = reader.take(ANSWER_BYTES_MAX);
    tokio::time::timeout(ANSWER_TIME, bounded.read_to_end(&mut answer)).await.map_err(io::Error::other)??;
    Ok(Some(serde_json::from_slice(&answer)?))
}

fn nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
    )
}
