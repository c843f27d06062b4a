use super::*;

/// `name arguments` of each call; `?` for arguments that are put together, and `hidden` at the end.
fn read(text: &str) -> Vec<String> {
    let script = Script::read(text);
    let shown = |call: &ScriptCall| match &call.arguments {
        ScriptArguments::Json(json) => format!("{} {json}", call.name),
        ScriptArguments::Text(text) => format!("{} {text:?}", call.name),
        ScriptArguments::Computed => format!("{} ?", call.name),
    };
    let calls = script.calls.iter().map(shown);
    calls.chain(script.hidden.map(|_| "hidden".to_owned())).collect()
}

#[test]
fn calls_that_are_written_out() {
    for (script, calls) in [
        (r#"await tools.exec_command({cmd: "ls -l"})"#, &[r#"exec_command {"cmd":"ls -l"}"#][..]),
        (
            r#"tools["exec_command"]({"cmd": 'ls', n: 1.50, b: true, x: null,})"#,
            &[r#"exec_command {"cmd":"ls","n":1.5,"b":true,"x":null}"#],
        ),
        (
            "tools.exec_command({cmd: `a\nb`, l: [1, -2, ['x']]})",
            &[r#"exec_command {"cmd":"a\nb","l":[1,-2,["x"]]}"#],
        ),
        (
            "tools.apply_patch(\"*** Begin\\n\" + '*** End')",
            &[r#"apply_patch "*** Begin\n*** End""#],
        ),
        ("tools.now()", &["now {}"]),
        (r#"tools.a({cmd: "\x72\u006d \u{2d}rf \ud83d\ude00"})"#, &[r#"a {"cmd":"rm -rf 😀"}"#]),
        (
            "const [a, b] = await Promise.all([tools.a({x: 1}), tools.b({y: tools.c({})})]);\ntext(a.output + b.output)",
            &[r#"a {"x":1}"#, "b ?", "c {}"],
        ),
        (
            "// tools.x(\n/* tools.y( */ text('tools.z(') // `\nfor (const r of [1, 2]) { text(`n ${r}`) }",
            &[],
        ),
        (
            "const r = await tools.a({}); if (r.exit_code !== 0) { text(r.output.replace(/[/'\"]+/g, '')) }",
            &["a {}"],
        ),
    ] {
        assert_eq!(read(script), calls, "{script}");
    }
}

#[test]
fn constants_are_what_they_are_declared_as() {
    for (script, calls) in [
        ("const cmd = 'ls'; await tools.a({cmd})", &[r#"a {"cmd":"ls"}"#][..]),
        (
            "const c = 'ls'\nconst d = ['x']\ntools.a({cmd: c, d: d}); tools.b({cmd: c})",
            &[r#"a {"cmd":"ls","d":["x"]}"#, r#"b {"cmd":"ls"}"#],
        ),
        // Anything else may change it, or mean another one.
        ("let c = 'ls'; tools.a({cmd: c})", &["a ?"]),
        ("const c = 'ls' + x; tools.a({cmd: c})", &["a ?"]),
        ("const c = 'ls'\n+ x; tools.a({cmd: c})", &["a ?"]),
        ("const c = 'ls'; { const c = 'rm'; tools.a({cmd: c}) }", &["a ?"]),
        ("const c = 'ls'; ((c) => tools.a({cmd: c}))('rm')", &["a ?"]),
        ("const d = ['x']; d.push('y'); tools.a({d})", &["a ?"]),
    ] {
        assert_eq!(read(script), calls, "{script}");
    }
}

#[test]
fn arguments_that_are_put_together() {
    for script in [
        "tools.a({cmd: `rm ${x}`})",
        "tools.a({cmd: 'rm ' + x})",
        "tools.a({...x})",
        "tools.a({[x]: 1})",
        "tools.a(x)",
        "tools.a({}, {})",
        "tools.a([1])",
        "tools.a({cmd: f('x')})",
        "tools.a({n: 0x10})",
        "tools.a({cmd() {}})",
    ] {
        assert_eq!(read(script)[0], "a ?", "{script}");
        assert!(!Script::read(script).is_known());
    }
    assert_eq!(read("tools.a({cmd: 'a', cmd: 'b'})"), [r#"a {"cmd":"b"}"#], "the last one counts");
}

#[test]
fn ways_to_reach_tools_that_the_text_does_not_name() {
    for script in [
        "tools['ex' + 'ec']({})",
        "tools[name]({})",
        "const t = tools; t.exec({})",
        "const { exec } = tools; exec({})",
        "tools?.exec({})",
        "tools.exec.call(null, {})",
        "tools.exec.bind(null, {})()",
        "[1].map(tools.exec)",
        "f(tools)",
        "globalThis.tools.exec({})",
        "globalThis['to' + 'ols']",
        "eval('x')",
        "(0, eval)('x')",
        "new Function('x')()",
        "(() => {}).constructor('x')()",
        "(() => {})['con' + 'structor']('x')()",
        "const k = 'constructor'; f[k]('x')",
        "const { constructor: F } = f",
        "const { ['con' + 'structor']: F } = f",
        "import('tools.js')",
        "x.tools.exec({})",
        "\\u0074ools.exec({})",
        "with (x) { y() }",
        "this.x()",
        "if (x) /'/.test(y); tools.a({}) //'",
        "x = '\n'; tools.a({})",
        "<!-- x\ntools.a({})",
        "x\n--> y",
        "#!/usr/bin/node\n",
        "text('",
        "text(`${",
        "/* x",
    ] {
        assert!(Script::read(script).hidden.is_some(), "{script}");
    }
    // A line comment ends at every kind of line end.
    assert_eq!(read("// x\u{2028}tools.a({})"), ["a {}"]);
    assert!(Script::read(&"tools.a({});".repeat(300)).hidden.is_some());
    assert!(Script::read(&"x;".repeat(20_000)).hidden.is_some());
}

/// No text makes it panic.
#[test]
fn any_text_is_read() {
    let parts = [
        "tools", ".", "[", "]", "(", ")", "{", "}", "`", "${", "'", "\\", "/", "a", "=", "const ",
        "\n", "é",
    ];
    let mut state = 7u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(parts[(state >> 33) as usize % parts.len()]);
        }
        Script::read(&text);
    }
}
