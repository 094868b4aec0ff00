//! From the command line to an exit code: parses, loads the configuration, starts what a command
//! needs, and prints a failure once.

use std::{ffi::OsString, future::Future, panic};

use clap::{CommandFactory, Parser, error::ErrorKind};

use crate::{
    admin,
    cli::{
        client::DuelsCommand,
        house::ConfigCommand,
        root::{Cli, Command},
    },
    config::{environment::Environment, layers, model::Switch, show},
    demo,
    doctor::report,
    duels_export, duels_run,
    exit::ExitCode,
    failure::Failure,
    help, login, mcp_stdio,
    output::{print, terminal::Terminal},
    picture, serve, verify,
};

/// Runs the process that was started.
pub(crate) fn process() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let environment = Environment::of_process();
    report_panics();
    // One provider for every TLS connection; a second installation would only repeat it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let answer = panic::catch_unwind(|| command_line(&arguments, &environment));
    answer.unwrap_or_else(|_| {
        print::failure(&bug(), wants_json(&arguments));
        ExitCode::Failed
    })
}

/// A panic becomes one log line, never a backtrace on the screen.
fn report_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        if tracing::enabled!(tracing::Level::ERROR) {
            tracing::error!(place, message, "a part of arena met a bug");
        } else {
            print::note(&format!("a part of arena met a bug at {place}: {message}"));
        }
    }));
}

fn bug() -> Failure {
    Failure::failed("arena met a bug in itself").hint("please report it with the lines above")
}

fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--json")
}

fn command_line(arguments: &[OsString], environment: &Environment) -> ExitCode {
    // Servers run it for avatars; it is no command of people's, so that no help and no shell offers it.
    if arguments.get(1).is_some_and(|name| name == picture::NAME) {
        return picture::run();
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, wants_json(arguments)),
    };
    let as_json = cli.common.json;
    command(cli, environment).unwrap_or_else(|failure| {
        print::failure(&failure, as_json);
        failure.exit
    })
}

/// What clap refused, or the help and version that it answers by itself.
fn usage(error: &clap::Error, as_json: bool) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print::data(&error.render().to_string());
            return ExitCode::Ok;
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !as_json => {
            print::note(error.render().to_string().trim_end());
            return ExitCode::Usage;
        }
        _ => {}
    }
    let text = error.render().to_string();
    // Clap writes `error: …`, an empty line, perhaps tips, and how the command is used.
    let mut parts = text.trim_start_matches("error: ").splitn(2, "\n\n");
    let message = parts.next().unwrap_or_default().trim_end();
    let lines = || parts_lines(&text);
    let tip = lines().find_map(|line| line.strip_prefix("tip: "));
    let words = lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("arena");
    let named: Vec<&str> = words
        .split(' ')
        .take_while(|word| word.starts_with(|first: char| first.is_ascii_lowercase()))
        .collect();
    let see = format!("see `{} --help`", named.join(" "));
    let failure = Failure::usage(message).hint(match tip {
        Some(tip) => format!("{tip}; {see}"),
        None => see,
    });
    print::failure(&failure, as_json);
    ExitCode::Usage
}

fn parts_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn command(cli: Cli, environment: &Environment) -> Result<ExitCode, Failure> {
    let Cli { common, command } = cli;
    let (flags, places, as_json) = (command.flags(), common.places(&command), common.json);
    let load = || layers::load(environment, &places, &flags);
    match command {
        Command::Serve(_) => block_on(serve::command::run(&load()?)),
        Command::Demo(args) => {
            block_on(demo::run::run(&load()?, &args, Terminal::of_stdout(environment), as_json))
        }
        Command::Mcp(_) => block_on(mcp_stdio::run(&load()?)),
        Command::Login(_) => block_on(login::run(&load()?, as_json)),
        Command::Duels(DuelsCommand::Verify { url }) => block_on(verify::run(&url, as_json)),
        Command::Duels(DuelsCommand::Export(args)) => {
            block_on(duels_export::command::run(&load()?, &args, as_json))
        }
        Command::Duels(DuelsCommand::Run(args)) => {
            let plan = duels_run::plan::Plan::of(&args)?;
            let mut loaded = load()?;
            // A run is a world of its own: nothing of the data directory is read or written.
            loaded.config.semantic.load = Switch::Off;
            let terminal = Terminal::of_stdout(environment);
            block_on(duels_run::command::run(plan, &loaded, terminal, as_json))
        }
        Command::Admin(command) => {
            let loaded = load()?;
            let _logs = serve::logs::start(loaded.config.log.filter.as_deref(), "error")?;
            block_on(admin::command::run(&loaded, command, as_json))
        }
        Command::Doctor(_) => {
            let loaded = load()?;
            let _logs = serve::logs::start(loaded.config.log.filter.as_deref(), "off")?;
            block_on(report::run(&loaded, as_json))
        }
        Command::Config(ConfigCommand::Show(_)) => {
            show::show(&load()?, as_json)?;
            Ok(ExitCode::Ok)
        }
        Command::Completions(args) => {
            let mut out = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "arena", &mut out);
            print::data(&String::from_utf8_lossy(&out));
            Ok(ExitCode::Ok)
        }
        Command::Help(args) => {
            help::run(&args.topic, as_json)?;
            Ok(ExitCode::Ok)
        }
    }
}

fn block_on(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = built.map_err(|error| {
        Failure::failed(format!("cannot start threads: {error}"))
            .hint("check the limits of this user (ulimit -u)")
    })?;
    runtime.block_on(work)
}
