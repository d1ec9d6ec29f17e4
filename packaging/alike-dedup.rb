# Homebrew's formula: a tap has it in Formula/.
class AlikeDedup < Formula
  desc "Find texts and records that are nearly, but not exactly, the same"
  homepage "https://github.com/alike-dev/alike"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/alike-dev/alike/releases/download/v@VERSION@/alike-dedup_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256 alike-dedup_@VERSION@_darwin_arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/alike-dev/alike/releases/download/v@VERSION@/alike-dedup_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256 alike-dedup_@VERSION@_darwin_amd64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/alike-dev/alike/releases/download/v@VERSION@/alike-dedup_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256 alike-dedup_@VERSION@_linux_arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/alike-dev/alike/releases/download/v@VERSION@/alike-dedup_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256 alike-dedup_@VERSION@_linux_amd64.tar.gz@"
    end
  end

  def install
    bin.install "alike"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/alike.bash" => "alike"
    zsh_completion.install "completions/_alike"
    fish_completion.install "completions/alike.fish"
  end

  test do
    (testpath/"a.txt").write "The river rose in the night, and by morning the street stood under water."
    assert_match "similarity", shell_output("#{bin}/alike compare a.txt a.txt")
  end
end
