//! `arena demo` from the temporary directory to its removal.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use kernel::id::{Ids, OsIds};
use store::Place;
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    agent::{self, Ending, Setup},
    event::Event,
    roster::Roster,
    screen::Screen,
    script::{SCRIPTS, Script},
    watch,
};
use crate::{
    admin::request::{AdminRequest, AdminResponse},
    cli::serve::DemoArgs,
    config::{
        layers::{Loaded, Origin},
        model,
        speed::Speed,
    },
    exit::ExitCode,
    failure::Failure,
    output::{print, terminal::Terminal},
    remote::http::Http,
    serve::{
        avatars::Workshop,
        banner,
        house::{House, Plan},
        listen::{self, Refused},
        logs, signals,
    },
};

/// The slowest and fastest clock with which the agents keep up with their deadlines.
/// The agents are cut off in the middle of whatever they do, of which their client library would warn.
const LOG_FILTER: &str = "warn,rmcp=error";

const SPEED_MILLI: std::ops::RangeInclusive<i64> = 1000..=1_000_000;
/// A demo that is told to end has answered everything within this.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// How long agents may take to notice.
const AGENTS_END: Duration = Duration::from_millis(500);
/// The reader's own person.
const READER_NICKNAME: &str = "you";
const SCOPE: &str = "duels:play";

/// Plays until interrupted, or until so many duels are settled.
pub(crate) async fn run(
    loaded: &Loaded,
    args: &DemoArgs,
    terminal: Terminal,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    let _logs = logs::start(loaded.config.log.filter.as_deref(), LOG_FILTER)?;
    let wish = signals::shutdown()?;
    if !SPEED_MILLI.contains(&args.clock_speed.milli()) {
        return Err(Failure::usage(format!(
            "the demo's agents cannot follow a clock speed of {}",
            args.clock_speed
        ))
        .hint("use 1 to 1000; `arena serve` takes any speed"));
    }
    let directory = tempfile::Builder::new().prefix("arena-demo-").tempdir().map_err(|error| {
        Failure::failed(format!("cannot make a temporary directory: {error}"))
            .hint("check the free space of the temporary directory, or set TMPDIR")
    })?;
    let listener = listener(loaded).await?;
    let address =
        listener.local_addr().map_err(|error| Failure::failed(format!("the listener is gone: {error}")))?;
    let base = listen::openable(address);
    let public_url = Url::parse(&base)
        .map_err(|error| Failure::failed(format!("the listener has no address: {error}")))?;
    let house = House::open(Plan {
        loaded,
        place: Place::Directory(directory.path().to_owned()),
        listener,
        public_url: public_url.clone(),
        drain_time: DRAIN_TIME,
        on_request: None,
        workshop: Workshop::default(),
    })
    .await?;

    let played = play(
        &house,
        &base,
        args,
        &directory.path().display().to_string(),
        &wish,
        Screen { terminal, as_json },
    )
    .await;
    house.close().await;
    if let Err(error) = directory.close() {
        tracing::warn!(%error, "the temporary directory could not be removed");
    }
    played.map(|()| ExitCode::Ok)
}

/// The configured address, or a free port when nobody chose and the default is busy.
async fn listener(loaded: &Loaded) -> Result<TcpListener, Failure> {
    let at = model::address("http.listen", &loaded.config.http.listen)?;
    match listen::bind(at).await {
        Ok(listener) => Ok(listener),
        Err(Refused::Busy) if *loaded.origin("http.listen") == Origin::Default => {
            print::note(&format!("port {} is in use, so the demo takes a free one", at.port()));
            let free = SocketAddr::new(at.ip(), 0);
            listen::bind(free).await.map_err(|refused| listen::failure(&refused, free, "--listen"))
        }
        Err(refused) => Err(listen::failure(&refused, at, "--listen")),
    }
}

async fn play(
    house: &House,
    base: &str,
    args: &DemoArgs,
    data_dir: &str,
    wish: &CancellationToken,
    screen: Screen,
) -> Result<(), Failure> {
    let key = enrol(house, READER_NICKNAME).await?;
    let mcp_url = format!("{base}/duels/mcp");
    screen.show(&Event::Started {
        urls: banner::links(base),
        clock_speed: args.clock_speed.to_string(),
        data_dir: data_dir.to_owned(),
        api_key: key.clone(),
        nickname: READER_NICKNAME.to_owned(),
    });
    screen.show_snippets(&doors::snippets(&mcp_url, &format!("{base}/duels/v1"), Some(&key)));

    let (sender, mut events) = unbounded_channel();
    let stop = wish.child_token();
    let http = Http::new()?;
    let feed = Url::parse(&format!("{base}/duels/v1/settled"))
        .map_err(|error| Failure::failed(format!("the feed has no address: {error}")))?;
    let watching = tokio::spawn(watch::follow(http.clone(), feed, sender.clone(), stop.clone()));
    let mut cast = Cast {
        house,
        mcp_url,
        http: agent_http()?,
        speed: args.clock_speed,
        roster: Roster::default(),
        stop: stop.clone(),
        events: sender,
        ids: Arc::new(OsIds),
        playing: JoinSet::new(),
        joined: [0; SCRIPTS.len()],
    };
    for index in 0..usize::try_from(args.agents).unwrap_or(0) {
        cast.add(index % SCRIPTS.len()).await?;
    }
    let settled = show_all(&screen, &mut events, &mut cast, args.duels, &stop).await;
    stop.cancel();
    // Agents are clients: whatever they are in the middle of, the server's state is whole.
    let _ =
        tokio::time::timeout(AGENTS_END, async { while cast.playing.join_next().await.is_some() {} }).await;
    cast.playing.abort_all();
    watching.abort();
    screen.show(&Event::Ended { settled: settled? });
    Ok(())
}

/// Shows events and replaces agents until the demo ends; answers how many duels were settled.
async fn show_all(
    screen: &Screen,
    events: &mut UnboundedReceiver<Event>,
    cast: &mut Cast<'_>,
    duels: Option<u64>,
    stop: &CancellationToken,
) -> Result<u64, Failure> {
    let mut settled = 0;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(settled),
            Some(ended) = cast.playing.join_next() => {
                if let Ok((script, Ending::Spent)) = ended {
                    cast.add(script).await?;
                }
            }
            Some(event) = events.recv() => {
                settled += u64::from(matches!(event, Event::Settled(_)));
                let read = screen.show(&event);
                if !read || duels.is_some_and(|wanted| settled >= wanted) {
                    return Ok(settled);
                }
            }
        }
    }
}

/// The agents that play, and what a new one needs.
struct Cast<'a> {
    house: &'a House,
    mcp_url: String,
    http: reqwest::Client,
    speed: Speed,
    roster: Roster,
    stop: CancellationToken,
    events: tokio::sync::mpsc::UnboundedSender<Event>,
    ids: Arc<dyn Ids>,
    playing: JoinSet<(usize, Ending)>,
    /// How many agents each script has had.
    joined: [u32; SCRIPTS.len()],
}

impl Cast<'_> {
    /// A new agent with the script of this index.
    async fn add(&mut self, index: usize) -> Result<(), Failure> {
        let script: &'static Script = &SCRIPTS[index];
        self.joined[index] += 1;
        let nickname = match self.joined[index] {
            1 => script.nickname.to_owned(),
            number => format!("{}-{number}", script.nickname),
        };
        let key = enrol(self.house, &nickname).await?;
        self.roster.join(&nickname);
        let setup = Setup {
            nickname,
            script,
            key,
            url: self.mcp_url.clone(),
            http: self.http.clone(),
            speed_milli: self.speed.milli(),
            ids: Arc::clone(&self.ids),
            roster: self.roster.clone(),
            events: self.events.clone(),
            shutdown: self.stop.clone(),
        };
        self.playing.spawn(async move { (index, agent::play(setup).await) });
        Ok(())
    }
}

/// Makes a person, as `arena admin user create` does, and answers the key.
pub(crate) async fn enrol(house: &House, nickname: &str) -> Result<String, Failure> {
    let request = AdminRequest::UserCreate {
        nickname: nickname.to_owned(),
        scopes: vec![SCOPE.to_owned()],
        expires_in_days: None,
    };
    match house.office.answer(request).await {
        AdminResponse::UserCreated(user) => Ok(user.api_key),
        AdminResponse::Refused(refusal) => Err(refusal.into()),
        _ => Err(Failure::failed("a person could not be made").hint("please report this")),
    }
}

/// The HTTP client that all agents share.
pub(crate) fn agent_http() -> Result<reqwest::Client, Failure> {
    const REQUEST_TIME: Duration = Duration::from_secs(10);
    reqwest::Client::builder()
        .no_proxy()
        .timeout(REQUEST_TIME)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| Failure::failed(format!("cannot set up HTTP: {error}")))
}
