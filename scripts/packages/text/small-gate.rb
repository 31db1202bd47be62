class SmallGate < Formula
  desc "{{.Summary}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $os, $archs := .Systems}}
  on_{{$os}} do
{{- range $arch, $archive := $archs}}
    on_{{$arch}} do
      url "{{$.Home}}/releases/download/v{{$.Version}}/{{$archive.Name}}"
      sha256 "{{$archive.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install {{range $i, $program := .Programs}}{{if $i}}, {{end}}"{{$program}}"{{end}}
    man1.install Dir["man/man1/*.1"]
    generate_completions_from_executable(bin/"small-hook", "completion")
  end

  test do
    system bin/"small-hook", "demo"
  end
end
