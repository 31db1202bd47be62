package report

import "testing"

func TestUseColor(t *testing.T) {
	type env map[string]string
	for _, tt := range []struct {
		name     string
		mode     string
		terminal bool
		env      env
		want     bool
	}{
		{"auto in a pipe", "auto", false, nil, false},
		{"auto on a terminal", "auto", true, nil, true},
		{"not given", "", true, nil, true},
		{"always in a pipe", "always", false, env{"NO_COLOR": "1", "TERM": "dumb"}, true},
		{"never on a terminal", "never", true, env{"CLICOLOR_FORCE": "1"}, false},
		{"NO_COLOR", "auto", true, env{"NO_COLOR": "1"}, false},
		{"NO_COLOR empty", "auto", true, env{"NO_COLOR": ""}, true},
		{"NO_COLOR before CLICOLOR_FORCE", "auto", true, env{"NO_COLOR": "0", "CLICOLOR_FORCE": "1"}, false},
		{"CLICOLOR_FORCE in a pipe", "auto", false, env{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{"CLICOLOR_FORCE=0", "auto", false, env{"CLICOLOR_FORCE": "0"}, false},
		{"dumb terminal", "auto", true, env{"TERM": "dumb"}, false},
		{"no TERM, as on Windows", "auto", true, env{"TERM": ""}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := UseColor(tt.mode, tt.terminal, func(name string) string { return tt.env[name] })
			if err != nil || got != tt.want {
				t.Errorf("UseColor = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	if on, err := UseColor("yes", true, func(string) string { return "" }); err == nil || on {
		t.Errorf("UseColor(yes) = %v, %v, want an error", on, err)
	}
}
