package cli

import (
	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
)

// newServeCmd makes "plimsoll serve".
func newServeCmd(env *Env) *cobra.Command {
	var addr string
	var profile bool
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the planner as a web page and a JSON API",
		GroupID: groupServe,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			const waiting = 64
			local := guard.Loopback(addr)
			handler, err := serve.New(serve.Options{
				Desk: env.desk(nil, waiting), Version: programVersion(), Loopback: local, Profile: profile,
				Page: web.Page(), HTML: web.Report, Markdown: web.Markdown,
			})
			if err != nil {
				return err
			}
			l, err := env.listen(ctx, "addr", addr, "/")
			if err != nil {
				return err
			}
			if !local {
				env.Note("anyone who can reach this address can use it")
			}
			return serve.Serve(ctx, l, handler, serve.Limits{})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 selects a free port")
	fs.BoolVar(&profile, "pprof", false, "serve profiles at /debug/pprof, on this machine only")
	fs.Lookup("pprof").Hidden = true
	return cmd
}
