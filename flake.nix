# nix run github:plimsoll-project/plimsoll -- version
{
  description = "Which deployment of a language model carries the most load within latency limits";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      revision = self.rev or "";
    in
    {
      packages = each (pkgs: rec {
        default = plimsoll;
        plimsoll = pkgs.buildGoModule {
          pname = "plimsoll";
          version = self.shortRev or "dev";
          src = self;
          subPackages = [ "cmd/plimsoll" ];
          # The hash of what "go mod vendor" writes; "make release-check" compares it where Nix is installed.
          vendorHash = "sha256-jnZdsNScqjD2D91ywDFljHgAE2RW4O0xwvjD0XJzZQ8=";
          env.CGO_ENABLED = 0;
          doCheck = false; # the tests of the whole module take minutes, and a browser
          ldflags = [ "-s" "-w" "-X main.revision=${revision}" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/plimsoll help --man-dir man
            installManPage man/*.1
            installShellCompletion --cmd plimsoll \
              --bash <($out/bin/plimsoll completion bash) \
              --zsh <($out/bin/plimsoll completion zsh) \
              --fish <($out/bin/plimsoll completion fish)
          '';
          meta = {
            description = "Finds the deployment of a language model that carries the most load within latency limits";
            homepage = "https://github.com/plimsoll-project/plimsoll";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "plimsoll";
          };
        };
      });
    };
}
