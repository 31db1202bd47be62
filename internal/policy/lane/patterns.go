package lane

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// defaults are the default patterns, by the key in the configuration. Of the patterns in a list that match a path, the last counts.
var defaults = map[string][]string{
	"migrations": {
		"**/migrations/**", "**/migration/**/*.{sql,rb,py,php,java,kt}", "**/db/migrate/**", "**/db/changelog/**", "**/alembic/versions/**", "**/{flyway,liquibase}/**",
		"**/migrations.*", "**/{v[0-9]*,u[0-9]*,r}__*.{sql,java,kt}", "**/*.{up,down}.sql", "**/{schema,structure}.sql",
		"**/db/{,*_}schema.rb", "**/db/*_structure.sql", "**/*.prisma",
		"!**/*.{md,rst,txt,sh}", "!**/migrations/__init__.py", "!**/migration_lock.toml",
	},
	"reversible": nil,
	"contracts": {
		"**/*.{proto,thrift,avsc,avdl,graphql,graphqls,gql,wsdl,xsd,raml,smithy}",
		"**/*{openapi,swagger,asyncapi}*.{yml,yaml,json}", "**/{openapi,swagger,asyncapi}/**/*.{yml,yaml,json}", "**/*.schema.json",
	},
	"exported": {"**", "!**/{cmd,internal,app,apps,web,frontend,backend,components}/**", "!**/_*{,/**}"},
	"security": {
		"**/{auth,authn,authz,oauth,oauth2,oidc,saml,sso,iam,rbac,acl,ldap,security,crypto,tls,x509,pgp,openpgp,secrets,permissions}/**",
		"**/*{oauth,authenticat,authori[sz]ation,ldap,login,session,password,passwd,permission,crypt,cipher,signature,jwt,csrf,sanitiz,middleware,security}*.*",
		"**/auth{,n,z}{,[._-]*,controller*,service*,handler*,guard*}.*", "**/*[._-]{auth,csp,acl}.*", "**/{csp,acl,cors,iam,rbac,ability,devise}.*", "**/csp[._-]*",
		"**/*.{pem,key,p12,pfx,jks,tfvars}", "**/*.yml.enc", "**/{secret,*-secret}*.{yml,yaml}", "**/.env{,.*}", "**/sudoers*", "**/codeowners",
		"!**/.env.{example,sample,template,dist}", "!**/templates/**", "!**/*.{txt,json,html,cshtml,hbs,erb,haml,ejs,jinja,j2,tmpl,jsx,tsx,vue,svelte}",
	},
	"documents": {
		"**/{docs,doc}/**", "**/{locale,locales,i18n,l10n,lang,intl,translations}/**/*.{json,yml,yaml,toml,xml,properties,strings,arb}", "**/*.{md,mdx,rst,adoc,org,po,pot,png,jpg,jpeg,gif,svg,webp,ico,pdf,css,scss,sass,less}",
		"**/{readme,license,licence,copying,notice,authors,contributors,changelog,changes,news,history}{,.txt}",
	},
	"tests": {
		"**/{test,tests,__tests__,testdata,e2e,fixtures,snapshots,.snapshots,__snapshots__,__mocks__,mocks}/**", "**/{spec,specs}/**/*.{rb,js,jsx,ts,tsx}",
		"**/{example,examples,_examples,bench,benchmark,benchmarks}/**", "**/{*.,}stories.{js,jsx,ts,tsx}", "**/{mock,fake,stub}[._-]*", "**/*[._-]{mock,fake,stub}*.*", "**/src/{androidtest,commontest,jvmtest,integrationtest}/**", "**/*.tests/**",
		"**/*_test.{go,py,rb,exs,dart,c,cc,cpp,clj,sh}", "**/test_*.{py,rb,c,cc,cpp,jl,sh}", "**/*_spec.rb",
		"**/*[._-]{test,spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}", "**/{tests,test}.{py,rs}", "**/conftest.py", "**/*{tests,testcase}.{java,kt,cs,php,swift}",
		"**/*.bats", "**/t/**/*.t",
	},
	"ignore": {
		"**/{.github,.gitlab,.circleci}/**", "!**/codeowners", "**/.{gitlab-ci,travis,appveyor,pre-commit-config,editorconfig,gitignore,gitattributes,golangci,eslintrc,prettierrc}*",
		"**/{vendor,node_modules,third_party}/**", "**/{dist,generated,gen}/**", "**/*.{pb.go,pb.gw.go,min.js,min.css,map,snap}", "**/*{_pb2,_pb2_grpc}.py*",
		"**/*{_gen,.gen,_generated,.generated}.*", "**/*.designer.cs",
		"**/*.lock", "**/*.lockfile", "**/bun.lockb", "**/gems.locked", "**/{package,cartfile}.resolved",
		"**/go.sum", "**/go.work.sum", "**/{pnpm,conda}-lock.{yml,yaml}", "**/cabal.project.freeze", "**/cpanfile.snapshot", "**/.terraform.lock.hcl",
		"**/{package-lock,npm-shrinkwrap,packages.lock,project.lock,brewfile.lock,dub.selections,lake-manifest}.json",
	},
}

// matches reports whether the default list, followed by the project's own, selects a path.
func matches(key, name string, cfg *Settings) bool {
	return policy.MatchLast(slices.Concat(defaults[key], cfg.Patterns[key]), name)
}

// isExcluded reports whether the project excludes a path from a list.
func isExcluded(key, name string, cfg *Settings) bool {
	for _, pattern := range cfg.Patterns[key] {
		if rest, not := strings.CutPrefix(pattern, "!"); not && policy.MatchLast([]string{rest}, name) {
			return true
		}
	}
	return false
}
