//! Results for a run as a whole: how often each instruction runs and what it costs, and the findings of checkers. Both
//! run the program once more from its start.

use super::{Run, told};
use crate::Answer;
use serde_json::{Value as Json, json};
use visakit::launch::Stopped;
use visakit_check::{Checks, Finding, Place, Stay};
use visakit_profile::{KernelCode, KernelProfile, Watched};

impl Run {
    /// For each instruction of a routine that runs: its number, executions, lanes, lanes that there could have been,
    /// and cycles by the cost model.
    pub(crate) fn heat(&mut self, routine: usize) -> Answer {
        let profile = match self.heat.take() {
            Some(profile) => profile,
            None => self.profile()?,
        };
        let profile = self.heat.insert(profile);
        let routines = self.session.listing().routines.iter();
        let kernels = self.source.object.kernels.len();
        let mut ids = routines.map(|r| super::number_of(kernels, r.id));
        let place = ids.position(|number| number == routine);
        let own = profile.instructions.iter();
        let own = own.filter(|i| Some(i.routine) == place && i.counts.executions > 0);
        let rows = own.map(|i| {
            let counts = &i.counts;
            json!([
                i.instruction,
                counts.executions,
                counts.lanes,
                counts.slots,
                counts.cycles
            ])
        });
        Ok(json!({
            "rows": rows.collect::<Vec<_>>(),
            "platform": profile.platform,
            "stopped": profile.stopped,
        }))
    }

    fn profile(&self) -> Result<KernelProfile, String> {
        let source = &self.source;
        if source.is_bare() {
            let bare = source.bare(true)?;
            let code = KernelCode::new(&source.object, bare.program(), None);
            return visakit_profile::run_bare(&code, &bare).map_err(told);
        }
        let config = visakit_profile::config(source.config());
        let launch = source.launch(&source.kernel()?, &config)?;
        let code = KernelCode::new(&source.object, launch.program(), None);
        let (profile, _) =
            visakit_profile::run(&code, launch, &config, Watched::default()).map_err(told)?;
        Ok(profile)
    }

    /// The findings of the checkers in the launch.
    pub(crate) fn check(&self) -> Answer {
        let source = &self.source;
        let report = if source.is_bare() {
            let bare = source.bare(false)?;
            let report = visakit_check::check_bare(&source.object, bare, Checks::ALL);
            report.map_err(told)?.map(|_| ())
        } else {
            let config = visakit_check::config(source.config());
            let kernel = source.kernel()?;
            let launch = source.launch(&kernel, &config)?;
            let report = visakit_check::check(&kernel, launch, &config, Checks::ALL, &[]);
            report.map_err(told)?.map(|_| ())
        };
        let findings = report.findings.iter().map(|f| self.finding(f));
        Ok(json!({
            "findings": findings.collect::<Vec<_>>(),
            "stopped": report.end.stopped().map(|stopped| self.stopped(stopped, &report.stays)),
        }))
    }

    fn stopped(&self, stopped: &Stopped, stays: &[Stay]) -> Json {
        let stays = stays.iter().map(|stay| {
            json!({
                "place": self.checked(&stay.place),
                "threads": stay.threads,
                "item": stay.item.to_string(),
            })
        });
        json!({
            "reason": stopped.reason.name(),
            "message": stopped.reason.to_string(),
            "groups": stopped.groups,
            "groups_ended": stopped.ended,
            "places": stays.collect::<Vec<_>>(),
        })
    }

    fn finding(&self, finding: &Finding) -> Json {
        let (group, step) = finding.moment;
        let other = finding.other.as_ref().map(|other| {
            let item = other.item.map(|item| item.to_string());
            let place = other.place.as_ref().map(|place| self.checked(place));
            json!({ "what": other.what, "item": item, "place": place })
        });
        json!({
            "kind": finding.kind.name(),
            "level": finding.kind.level().name(),
            "meaning": finding.kind.meaning().trim(),
            "message": finding.message,
            "place": self.checked(&finding.place),
            "item": finding.item.map(|item| item.to_string()),
            "other": other,
            "group": group,
            "step": step,
            "count": finding.count,
        })
    }

    /// A place of the checkers: they name routines.
    fn checked(&self, place: &Place) -> Json {
        let routines = self.session.listing().routines.iter();
        let mut routines = routines.filter(|r| r.name == place.routine);
        let routine = routines.next().map(|r| self.number_of(r.id));
        json!({
            "routine": routine,
            "instruction": place.instruction,
            "text": place.text,
            "file": place.file,
            "line": place.line,
        })
    }
}
