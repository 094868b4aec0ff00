//! Avatars: fetched by the guarded fetcher, made small in a process of its own, kept as files.

use std::{
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Path as Parameter, State},
    response::Response,
    routing::get,
};
use duels::outside::{Avatars, Pending};
use http::{HeaderValue, StatusCode, header};
use kernel::{Fault, Kind};
use net::{FetchError, Fetcher};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
    sync::Semaphore,
};

use crate::{exit::ExitCode, picture};

/// How long a picture may take to be made.
const MAKING: Duration = Duration::from_secs(10);
/// The most of a picture or of a refusal that is read from the process.
const ANSWER_BYTES_MAX: u64 = 512 * 1024;
const REFUSAL_BYTES_MAX: u64 = 1024;

/// Where the running program is, also after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// What images are made with: who fetches them, and the program whose command `picture` makes them small.
pub(crate) struct Workshop {
    pub(crate) fetcher: Arc<Fetcher>,
    pub(crate) program: PathBuf,
}

impl Default for Workshop {
    /// From public addresses, by this program.
    fn default() -> Self {
        Self { fetcher: Arc::new(Fetcher::new()), program: PathBuf::from(OWN_PROGRAM) }
    }
}

pub(crate) struct Gallery {
    directory: PathBuf,
    workshop: Workshop,
    /// One picture at a time: each may take much memory.
    making: Semaphore,
}

impl Gallery {
    /// Keeps images in `directory`, which is made when it is missing.
    pub(crate) fn open(directory: PathBuf, workshop: Workshop) -> io::Result<Arc<Self>> {
        // Also the directories above it, which nobody else made yet, are the owner's alone.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        Ok(Arc::new(Self { directory, workshop, making: Semaphore::new(1) }))
    }

    /// The path of an image; `None` for what cannot be a name.
    fn path(&self, name: &str) -> Option<PathBuf> {
        duels::avatars::is_name(name).then(|| self.directory.join(format!("{name}.webp")))
    }

    async fn made(&self, url: &str) -> Result<Vec<u8>, Fault> {
        let file = self
            .workshop
            .fetcher
            .fetch(url, pictures::INPUT_BYTES_MAX)
            .await
            .map_err(|refusal| not_fetched(&refusal))?;
        let _turn = self.making.acquire().await.map_err(Fault::internal)?;
        match tokio::time::timeout(MAKING, self.small(&file)).await {
            Ok(made) => made,
            Err(_elapsed) => Err(rejected(&format!(
                "the image took longer than {} seconds; send a simpler one",
                MAKING.as_secs()
            ))),
        }
    }

    /// Runs the process; it is killed when this is dropped.
    async fn small(&self, file: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut child = Command::new(&self.workshop.program)
            .arg(picture::NAME)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Fault::unavailable(format!("the picture process was not started: {error}")))?;
        let (Some(mut input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::internal("a process without its pipes"));
        };
        let feed = async {
            // A process that has seen enough closes its input.
            let _ = input.write_all(file).await;
            drop(input);
        };
        let (mut picture, mut refusal) = (Vec::new(), Vec::new());
        let read = async { output.take(ANSWER_BYTES_MAX).read_to_end(&mut picture).await };
        let listen = async { errors.take(REFUSAL_BYTES_MAX).read_to_end(&mut refusal).await };
        let ((), read, told) = tokio::join!(feed, read, listen);
        let status = child.wait().await.map_err(Fault::internal)?;
        read.and(told).map_err(Fault::internal)?;
        if status.success() && !picture.is_empty() {
            return Ok(picture);
        }
        if status.code() == Some(i32::from(ExitCode::Refused.number())) {
            let refusal = String::from_utf8_lossy(&refusal);
            return Err(rejected(&format!("avatar_url was not taken: {}", refusal.trim())));
        }
        tracing::info!(%status, "a picture process ended badly");
        Err(rejected(
            "the image is damaged in a way that its decoder does not survive; save it anew and send that",
        ))
    }
}

/// An address of the wrong shape is a mistake in the input; whatever comes after it concerns the image.
fn not_fetched(refusal: &FetchError) -> Fault {
    match refusal {
        FetchError::BadAddress => {
            Fault::new("VALIDATION_FAILED", Kind::Invalid, format!("avatar_url cannot be used: {refusal}"))
        }
        _ => rejected(&format!("avatar_url was not fetched: {refusal}")),
    }
}

fn rejected(message: &str) -> Fault {
    Fault::new("IMAGE_REJECTED", Kind::Invalid, message)
}

fn failed(error: &io::Error) -> Fault {
    Fault::unavailable(format!("the directory of avatars: {error}"))
}

impl Avatars for Gallery {
    fn make<'a>(&'a self, url: &'a str) -> Pending<'a, Result<Vec<u8>, Fault>> {
        Box::pin(self.made(url))
    }

    fn put<'a>(&'a self, name: &'a str, image: Vec<u8>) -> Pending<'a, Result<(), Fault>> {
        Box::pin(async move {
            let path = self.path(name).ok_or_else(|| Fault::internal("not a name of an image"))?;
            let written = tokio::task::spawn_blocking(move || write_whole(&path, &image)).await;
            written.map_err(Fault::internal)?.map_err(|error| failed(&error))
        })
    }

    fn get<'a>(&'a self, name: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, Fault>> {
        Box::pin(async move {
            let Some(path) = self.path(name) else { return Ok(None) };
            match tokio::fs::read(path).await {
                Ok(image) => Ok(Some(image)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(failed(&error)),
            }
        })
    }

    fn remove<'a>(&'a self, name: &'a str) -> Pending<'a, Result<(), Fault>> {
        Box::pin(async move {
            let Some(path) = self.path(name) else { return Ok(()) };
            // A crash may have left the draft of an image without the image.
            for path in [draft(&path), path] {
                match tokio::fs::remove_file(path).await {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&error)),
                    _ => {}
                }
            }
            Ok(())
        })
    }
}

/// What an image is called until it is whole.
fn draft(path: &Path) -> PathBuf {
    path.with_extension("draft")
}

/// Under its name there is the whole image or none, also after a crash.
fn write_whole(path: &Path, image: &[u8]) -> io::Result<()> {
    let (draft, parent) = (draft(path), path.parent().unwrap_or(Path::new(".")));
    let mut options = std::fs::OpenOptions::new();
    let written =
        options.write(true).create(true).truncate(true).mode(0o600).open(&draft).and_then(|mut file| {
            io::Write::write_all(&mut file, image)?;
            file.sync_all()?;
            std::fs::rename(&draft, path)
        });
    if written.is_err() {
        // What is left of it goes with its name at the latest.
        let _ = std::fs::remove_file(&draft);
    }
    written?;
    std::fs::File::open(parent)?.sync_all()
}

/// `/avatars/<name>.webp`.
pub(crate) fn routes(gallery: Arc<Gallery>) -> Router {
    Router::new().route("/avatars/{file}", get(show)).with_state(gallery)
}

async fn show(State(gallery): State<Arc<Gallery>>, Parameter(file): Parameter<String>) -> Response {
    let image = match file.strip_suffix(".webp") {
        Some(name) => gallery.get(name).await,
        None => Ok(None),
    };
    let (status, media_type, cache, body) = match image {
        // A name is never used twice, so its image never changes.
        Ok(Some(image)) => {
            (StatusCode::OK, "image/webp", "public, max-age=31536000, immutable", Body::from(image))
        }
        Ok(None) => (
            StatusCode::NOT_FOUND,
            "application/json",
            "no-store",
            Body::from(
                r#"{"error":{"code":"ROUTE_NOT_FOUND","message":"no image has this name; agents' avatar_url says which there are"}}"#,
            ),
        ),
        Err(fault) => {
            tracing::warn!(error = fault.context(), "an avatar was not read");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "application/json",
                "no-store",
                Body::from(
                    r#"{"error":{"code":"UNAVAILABLE","message":"the image cannot be read now; try again"}}"#,
                ),
            )
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    response
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A gallery whose pictures are made by a shell script.
    fn gallery(directory: &Path, script: &str) -> Arc<Gallery> {
        let program = directory.join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Gallery::open(directory.join("avatars"), Workshop { program, ..Workshop::default() }).unwrap()
    }

    #[tokio::test]
    async fn however_the_process_ends_there_is_an_answer() {
        for (script, wanted) in [
            ("cat > /dev/null; printf picture", Ok(b"picture".to_vec())),
            ("printf picture", Ok(b"picture".to_vec())),
            ("cat > /dev/null; echo 'it is a GIF; send a PNG' >&2; exit 6", Err("it is a GIF; send a PNG")),
            ("kill -9 $$", Err("does not survive")),
            ("kill -6 $$", Err("does not survive")),
            ("exit 0", Err("does not survive")),
            ("exit 1", Err("does not survive")),
        ] {
            let home = tempfile::tempdir().unwrap();
            let made = gallery(home.path(), script).small(&vec![7; 300_000]).await;
            match (made, wanted) {
                (Ok(made), Ok(wanted)) => assert_eq!(made, wanted, "{script}"),
                (Err(fault), Err(words)) => {
                    assert_eq!(fault.code, Some("IMAGE_REJECTED"), "{script}");
                    assert!(fault.message.contains(words), "{script}: {}", fault.message);
                }
                (made, wanted) => panic!("{script}: {made:?}, not {wanted:?}"),
            }
        }
    }

    #[tokio::test]
    async fn files_are_whole_under_names_of_our_own() {
        let home = tempfile::tempdir().unwrap();
        let gallery = gallery(home.path(), "exit 1");
        let name = "0123456789abcdef0123456789abcdef";
        gallery.put(name, b"image".to_vec()).await.unwrap();
        assert_eq!(gallery.get(name).await.unwrap().as_deref(), Some(&b"image"[..]));
        for other in
            ["../program", "..", "0123456789abcdef0123456789abcdeg", "", "0123456789ABCDEF0123456789ABCDEF"]
        {
            assert_eq!(gallery.get(other).await.unwrap(), None, "{other}");
            assert!(gallery.put(other, vec![1]).await.is_err(), "{other}");
            gallery.remove(other).await.unwrap();
        }
        assert!(home.path().join("program").exists());
        gallery.remove(name).await.unwrap();
        gallery.remove(name).await.unwrap();
        assert_eq!(
            std::fs::read_dir(home.path().join("avatars")).unwrap().count(),
            0,
            "no temporary file stays"
        );
    }

    #[tokio::test]
    async fn what_was_not_fetched_is_told_without_the_inside() {
        let home = tempfile::tempdir().unwrap();
        let gallery = gallery(home.path(), "exit 1");
        for (url, code) in [
            ("http://a.example/x.png", "VALIDATION_FAILED"),
            ("https://127.0.0.1/x.png", "IMAGE_REJECTED"),
            ("https://[::1]/", "IMAGE_REJECTED"),
            ("https://169.254.169.254/latest", "IMAGE_REJECTED"),
        ] {
            let refused = gallery.make(url).await.unwrap_err();
            assert_eq!(refused.code, Some(code));
            assert!(refused.message.contains("; send "), "{}", refused.message);
            assert!(!refused.message.contains("127.0.0.1"), "{}", refused.message);
        }
    }
}
