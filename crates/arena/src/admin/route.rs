//! Who does an admin request: the server that holds the data directory, or this process.

use std::{sync::Arc, time::Duration};

use kernel::id::OsIds;
use store::{OpenError, Place};

use super::{
    execute::Office,
    request::{AdminRequest, AdminResponse},
    socket,
};
use crate::{
    config::{layers::Loaded, model},
    denied,
    exit::ExitCode,
    failure::Failure,
    opening,
    output::print,
    serve::listen,
};

/// How long a command waits for a server that is just starting or stopping, or for another command.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

/// Gets `request` done with the server stopped, running, or never started.
pub(crate) async fn request(loaded: &Loaded, request: AdminRequest) -> Result<AdminResponse, Failure> {
    let http = &loaded.config.http;
    let public_url = listen::public_url(http, model::address("http.listen", &http.listen)?)?;
    let deadline = tokio::time::Instant::now() + WAIT;
    loop {
        // On PostgreSQL nobody holds the store, so the command opens it beside the servers.
        if loaded.config.database.url.is_none() {
            let asked = socket::ask(&loaded.data_dir, &request).await;
            if let Some(response) = asked.map_err(|error| unreachable_socket(loaded, &error))? {
                return Ok(response);
            }
        }
        let place = opening::place(loaded);
        opening::finish_restore(&place)?;
        begun(&place, &request)?;
        let opened = tokio::task::spawn_blocking({
            let options = opening::options(place, &loaded.config);
            move || store::Store::open(options)
        })
        .await
        .map_err(|error| Failure::failed(format!("the store could not be opened: {error}")))?;
        match opened {
            Ok(store) => {
                let opening_points = loaded.config.duels.opening_points;
                let office = Office {
                    store: store.clone(),
                    ids: Arc::new(OsIds),
                    opening_points,
                    public_url,
                    server: None,
                };
                let response = office.answer(request).await;
                opening::close(store).await;
                return Ok(response);
            }
            Err(OpenError::Held { .. }) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(opening::failure(&error)),
        }
    }
}

/// Only a first person begins an arena; whoever asks of one that is not there has another in mind.
fn begun(place: &Place, request: &AdminRequest) -> Result<(), Failure> {
    let Place::Directory(directory) = place else { return Ok(()) };
    // What cannot be looked at is told by whoever opens it.
    let looked = directory.join(store::FILE_NAME).symlink_metadata();
    let is_missing = looked.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    if matches!(request, AdminRequest::Check) || !is_missing {
        return Ok(());
    }
    if matches!(request, AdminRequest::UserCreate { .. }) {
        print::note(&format!("a new arena begins in {}", directory.display()));
        return Ok(());
    }
    Err(Failure::new(ExitCode::Refused, format!("there is no arena in {}", directory.display()))
        .hint("pass the --data-dir of the server, or begin one: arena admin user create NICKNAME"))
}

fn unreachable_socket(loaded: &Loaded, error: &std::io::Error) -> Failure {
    let path = loaded.data_dir.join("admin.sock");
    denied::failure("use the admin socket", &path, error)
}
