package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// command is how a command is made, and the names it is called by.
type command struct {
	make  func(*Env) *cobra.Command
	names []string
}

// commandTable lists the commands. Help sorts them by name within their group.
func commandTable() []command {
	return []command{
		{newPlanCmd, []string{"plan"}},
		{newDiffCmd, []string{"diff"}},
		{newSweepCmd, []string{"sweep"}},
		{newFilesCmd, []string{"files"}},
		{newConfigureCmd, []string{"cli"}},
		{newOptimizeCmd, []string{"throughput-optimizer", "optimize", "throughput_optimizer"}},
		{newExplainCmd, []string{"explain"}},
		{newLintCmd, []string{"lint"}},
		{newUpgradeCmd, []string{"upgrade"}},
		{newSimulateCmd, []string{"simulate"}},
		{newStepCmd, []string{"step", "text_generate", "text-generate"}},
		{newModelsCmd, []string{"models"}},
		{newDevicesCmd, []string{"devices", "systems"}},
		{newEnginesCmd, []string{"engines", "backends"}},
		{newMCPCmd, []string{"mcp"}},
		{newServeCmd, []string{"serve"}},
		{newPagesCmd, []string{"pages"}},
		{newCallCmd, []string{"call"}},
		{newAccuracyCmd, []string{"accuracy"}},
		{newCheckCmd, []string{"check"}},
		{newMeasureCmd, []string{"measure"}},
		{newCalibrateCmd, []string{"calibrate"}},
		{newVersionCmd, []string{"version"}},
		{newDoctorCmd, []string{"doctor"}},
		{newCompletionCmd, []string{"completion"}},
	}
}

// commands makes the command that the first argument names, or all commands if it names none: help and completion list
// all, and a mistyped name is compared with all. Defining the flags of all takes a third of the time of "plimsoll version".
func commands(env *Env) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range commandTable() {
		if len(env.Args) > 0 && slices.Contains(c.names, env.Args[0]) {
			return []*cobra.Command{c.make(env)}
		}
	}
	for _, c := range commandTable() {
		all = append(all, c.make(env))
	}
	return all
}

// The groups under which help lists commands; a command names one in its GroupID.
const (
	groupPlan    = "plan"
	groupServe   = "serve"
	groupCatalog = "catalog"
	groupTrust   = "trust"
	groupAbout   = "about"
)

// groups returns the groups in the order help prints them.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupPlan, Title: "Plan"},
		{ID: groupServe, Title: "Servers"},
		{ID: groupCatalog, Title: "Catalogs"},
		{ID: groupTrust, Title: "Measurements"},
		{ID: groupAbout, Title: "About"},
	}
}

// flagAliases maps other spellings of a flag, on any command, to its name.
func flagAliases() map[string]string {
	return map[string]string{
		"devices": "device",
		"systems": "system",

		// Older and newer spellings of the Ascend tools.
		"ttft-limits":         "ttft-limit",
		"tpot-limits":         "tpot-limit",
		"mtp-acceptance-rate": "mtp-acceptance-rates",
		"chrome-trace-file":   "chrome-trace",
		"profiling-database":  "profiling-database-path",
		"graph-log-url":       "graph-log-path",
		"graph-log-file":      "graph-log-path",
		"disable-repetition":  "no-repetition",
	}
}

// spellings are flags that some commands have by AIConfigurator's name and others by that of the Ascend tools. Every command takes both.
func spellings() [][2]string {
	return [][2]string{
		{"system", "device"},
		{"isl", "input-length"},
		{"osl", "output-length"},
		{"prefix", "prefix-length"},
		{"gpus", "num-devices"},
		{"ttft", "ttft-limit"},
		{"tpot", "tpot-limit"},
		{"nextn", "num-mtp-tokens"},
		{"nextn-accept-rates", "mtp-acceptance-rates"},
	}
}

// withSpellings adds the other spelling of each flag that a command has.
func withSpellings(aliases map[string]string, fs *pflag.FlagSet) map[string]string {
	fs.VisitAll(func(f *pflag.Flag) { delete(aliases, f.Name) })
	for _, s := range spellings() {
		one, other := fs.Lookup(s[0]) != nil, fs.Lookup(s[1]) != nil
		switch {
		case one && !other:
			aliases[s[1]] = s[0]
		case other && !one:
			aliases[s[0]] = s[1]
		}
	}
	for from, to := range aliases {
		if name, ok := aliases[to]; ok {
			aliases[from] = name
		}
	}
	return aliases
}

// configureAliases are AIConfigurator's spellings: a long and a short one for each size of a worker.
func configureAliases() map[string]string {
	out := flagAliases()
	out["perf-db-version"] = "backend-version"
	for long, others := range map[string][]string{
		"tp-size": {"tp"}, "pp-size": {"pp"}, "dp-size": {"dp", "attention-dp-size"}, "moe-tp-size": {"etp"}, "ep-size": {"ep", "moe-ep-size"},
		"batch-size": {"bs"}, "workers": {"num-workers"},
	} {
		for role, short := range map[string]string{"": "", "prefill-": "p-", "decode-": "d-"} {
			out[short+long] = role + long
			for _, other := range others {
				out[role+other], out[short+other] = role+long, role+long
			}
		}
	}
	return out
}

// newRootCmd assembles the program.
func newRootCmd(env *Env, commands []*cobra.Command, prof *profiles) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:               "plimsoll COMMAND",
		Short:             "Find the best deployment of a language model on given hardware",
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := env.tryOutputs(cmd); err != nil {
				return err
			}
			return prof.start()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(env, false, false)
			}
			return cmd.Help()
		},
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.Flags().BoolVar(&version, "version", false, "print the version")
	section(root.PersistentFlags(), "Global", func(fs *pflag.FlagSet) {
		fs.BoolP("help", "h", false, "print help")
		prof.flags(fs)
	})
	root.AddGroup(groups()...)
	root.AddCommand(commands...)
	root.SetHelpCommand(newHelpCmd(env))
	root.InitDefaultHelpCmd()
	describe(root)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(env, cmd) })
	root.SetFlagErrorFunc(flagError)
	root.SetGlobalNormalizationFunc(nargs.Normalizer(nil))
	for _, c := range commands {
		completeFlags(c)
		aliases := flagAliases
		if c.Name() == "cli" {
			aliases = configureAliases
		}
		for _, c := range append(c.Commands(), c) {
			c.Flags().SetNormalizeFunc(nargs.Normalizer(withSpellings(aliases(), c.Flags())))
		}
	}
	return root
}
