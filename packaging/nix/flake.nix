{
  description = "alike: find texts and records that are nearly, but not exactly, the same";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      # The static programs of the release; the hash of each archive is that of SHA256SUMS.
      archives = {
        x86_64-linux = { name = "linux_amd64"; sha256 = "@SHA256 alike-dedup_@VERSION@_linux_amd64.tar.gz@"; };
        aarch64-linux = { name = "linux_arm64"; sha256 = "@SHA256 alike-dedup_@VERSION@_linux_arm64.tar.gz@"; };
        x86_64-darwin = { name = "darwin_amd64"; sha256 = "@SHA256 alike-dedup_@VERSION@_darwin_amd64.tar.gz@"; };
        aarch64-darwin = { name = "darwin_arm64"; sha256 = "@SHA256 alike-dedup_@VERSION@_darwin_arm64.tar.gz@"; };
      };
      package = system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenvNoCC.mkDerivation {
          pname = "alike-dedup";
          inherit version;
          src = pkgs.fetchurl {
            url = "https://github.com/alike-dev/alike/releases/download/v${version}/alike-dedup_${version}_${archive.name}.tar.gz";
            inherit (archive) sha256;
          };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          dontStrip = true;
          installPhase = ''
            install -Dm755 alike -t $out/bin
            installManPage man/*.1
            installShellCompletion completions/{alike.bash,_alike,alike.fish}
          '';
          meta = {
            homepage = "https://github.com/alike-dev/alike";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "alike";
          };
        };
    in {
      packages = builtins.mapAttrs (system: archive: { default = package system archive; }) archives;
    };
}
