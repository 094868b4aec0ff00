//! `arena help`: a command's help, or the table of exit codes.

use clap::CommandFactory;

use crate::{
    cli::root::Cli,
    config::near::near,
    exit::ExitCode,
    failure::Failure,
    output::{print, table},
};

const EXIT_CODES: &str = "exit-codes";

/// Prints the help of what `topic` names.
pub(crate) fn run(topic: &[String], as_json: bool) -> Result<(), Failure> {
    if topic.len() == 1 && topic[0] == EXIT_CODES {
        return exit_codes(as_json);
    }
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    for name in topic {
        // Looked up twice, because the names are needed for the message when there is none.
        let known: Vec<String> = found.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        found = found.find_subcommand_mut(name).ok_or_else(|| {
            let close = near(name, known.iter().map(String::as_str).chain([EXIT_CODES]));
            Failure::usage(format!("there is no command or topic {name:?}")).hint(match close.first() {
                Some(close) => format!("did you mean {close}?"),
                None => format!("there are: {}", known.join(", ")),
            })
        })?;
    }
    print::data(&found.render_help().to_string());
    Ok(())
}

fn exit_codes(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let rows: Vec<serde_json::Value> = ExitCode::ALL
            .iter()
            .map(|code| serde_json::json!({"exitCode": code.number(), "code": code.word(), "meaning": code.meaning()}))
            .collect();
        return print::json(&rows);
    }
    let rows: Vec<Vec<String>> = ExitCode::ALL
        .iter()
        .map(|code| vec![code.number().to_string(), code.word().to_owned(), code.meaning().to_owned()])
        .collect();
    print::data(&table::columns(&["exit", "code", "meaning"], &rows));
    Ok(())
}
