package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
)

// serveFlags are the flags of "plimsoll serve".
type serveFlags struct {
	addr string
	tokenFlags
	users              string
	userHeader         string
	proxies            []string
	rate               float64
	concurrency        int
	log                string
	drain, longest     time.Duration
	profile, rateGiven bool
}

// newServeCmd makes "plimsoll serve".
func newServeCmd(env *Env) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the planner as a web page and a JSON API",
		GroupID: groupServe,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.rateGiven = cmd.Flags().Changed("client-rate") || cmd.Flags().Changed("client-concurrency")
			f.tokenGiven = cmd.Flags().Changed("token")
			for _, name := range []string{"users", "user-header"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" { // from a variable that is not set
					return usagef("--%s is empty", name)
				}
			}
			return f.run(cmd.Context(), env)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 selects a free port")
	section(fs, "Users", func(fs *pflag.FlagSet) {
		f.define(fs)
		fs.StringVar(&f.users, "users", "", "`file` with a user's name and token on each line")
		fs.StringVar(&f.userHeader, "user-header", "", "`header` in which a trusted reverse proxy names the user")
		fs.StringSliceVar(&f.proxies, "trusted-proxy", []string{"127.0.0.1", "::1"}, "`addresses` or networks of reverse proxies")
	})
	section(fs, "Limits of a client", func(fs *pflag.FlagSet) {
		fs.Float64Var(&f.rate, "client-rate", 50, "requests per second; 0 means unlimited, the default on a loopback address")
		fs.IntVar(&f.concurrency, "client-concurrency", 16, "parallel requests, including streams; 0 means unlimited, as above")
		fs.DurationVar(&f.longest, "job-time", 30*time.Minute, "maximum run time of a job")
	})
	section(fs, "Operation", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.log, "log", "", "log requests to stderr, as `format` json or text")
		fs.DurationVar(&f.drain, "drain", 0, "after a signal, time to keep accepting requests while /readyz reports not ready")
	})
	fs.BoolVar(&f.profile, "pprof", false, "serve profiles at /debug/pprof, on this machine only")
	fs.Lookup("pprof").Hidden = true
	return cmd
}

// run serves until a signal.
func (f *serveFlags) run(ctx context.Context, env *Env) error {
	local := guard.Loopback(f.addr)
	access, err := f.access(env, local) // before signals are caught: the list of users may come through a pipe
	if err != nil {
		return err
	}
	signalled, stop := untilSignal(ctx)
	defer stop()
	logger, err := f.logger(env)
	if err != nil {
		return err
	}
	if f.drain < 0 || f.longest <= 0 {
		return usagef("--drain must not be negative and --job-time must be positive")
	}
	const waiting = 64
	runner := env.serverRunner(nil, waiting)
	jobs := job.New(runner, job.Limits{Longest: f.longest})
	defer jobs.Close()
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var leaving atomic.Bool
	defer context.AfterFunc(signalled, func() {
		leaving.Store(true)
		time.Sleep(f.drain)
		jobs.Close() // their streams end with them
		end()
	})()
	handler, err := serve.New(serve.Options{
		Runner: runner, Jobs: jobs, Version: env.programVersion(), Loopback: local, Profile: f.profile, Access: access, Log: logger,
		Ready: func() bool { return !leaving.Load() },
		Page:  web.Page(), HTML: web.Report, Markdown: web.Markdown,
	})
	if err != nil {
		return err
	}
	l, err := env.listen(signalled, "addr", f.addr, "/")
	if err != nil {
		return err
	}
	return serve.Serve(ending, l, handler, serve.Limits{})
}

// access is who may use the server and how much.
func (f *serveFlags) access(env *Env, local bool) (*guard.Guard, error) {
	token, err := f.read(env)
	if err != nil {
		return nil, err
	}
	g := &guard.Guard{Token: token, UserHeader: f.userHeader}
	if !(f.rate >= 0) || math.IsInf(f.rate, 1) || f.concurrency < 0 {
		return nil, usagef("--client-rate and --client-concurrency must not be negative")
	}
	if !local || f.rateGiven {
		g.Limits = guard.Limits{Rate: f.rate, Concurrent: f.concurrency}
	}
	for _, text := range f.proxies {
		p, err := network(text)
		if err != nil {
			return nil, usagef("--trusted-proxy %s is neither an address nor a network such as 10.0.0.0/8", text)
		}
		g.Proxies = append(g.Proxies, p)
	}
	if f.users != "" {
		data, err := env.ReadFile(f.users, bound.Users)
		if err != nil {
			return nil, usagef("--users %s: %w", f.users, cause(err))
		}
		g.Users, err = readUsers(string(data))
		if err != nil {
			return nil, usagef("--users %s: %w", f.users, err)
		}
	}
	return g, f.exposed(g, "addr", f.addr, "--token, --users or --user-header")
}

// network reads an address or a network.
func network(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(ip, ip.BitLen()), nil
}

// readUsers reads names and tokens, a user on each line; "#" begins a comment.
func readUsers(text string) (map[string]string, error) {
	out, owner := map[string]string{}, map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
			continue
		case len(words) != 2:
			return nil, fmt.Errorf("line %d must be a name and a token", i+1)
		case guard.CheckToken(words[1]) != nil:
			return nil, fmt.Errorf("line %d: the token of %s %w", i+1, words[0], guard.CheckToken(words[1]))
		case out[words[0]] != "":
			return nil, fmt.Errorf("line %d: user %s appears twice", i+1, words[0])
		case owner[words[1]] != "":
			return nil, fmt.Errorf("line %d: %s has the same token as %s", i+1, words[0], owner[words[1]])
		}
		out[words[0]], owner[words[1]] = words[1], words[0]
	}
	if len(out) == 0 {
		return nil, errors.New("the file has no users")
	}
	return out, nil
}

// logger is where requests are logged.
func (f *serveFlags) logger(env *Env) (*slog.Logger, error) {
	switch f.log {
	case "":
		return nil, nil //nolint:nilnil // no log is a choice
	case "json":
		return slog.New(slog.NewJSONHandler(env.Stderr, nil)), nil
	case "text":
		return slog.New(slog.NewTextHandler(env.Stderr, nil)), nil
	}
	return nil, usagef("--log must be json or text, got %s", f.log)
}
