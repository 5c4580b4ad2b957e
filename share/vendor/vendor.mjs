/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of the page of fvmpi view, as their makers publish them, with their licences: so that neither a build nor
 * a user needs npm. package-lock.json says which, with their checksums.
 *
 *     node vendor.mjs [--check]    copies what `npm ci` has fetched here; --check: says which files differ, and exits 1
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const here = path.dirname(fileURLToPath(import.meta.url)),
  FILES = {
    "dockview-core": {
      "dockview-core.js": "dist/dockview-core.min.noStyle.js",
      "dockview-core.css": styleOf("dist/dockview-core.min.js"),
      LICENSE: "LICENCE.md",
    },
    uplot: { "uplot.js": "dist/uPlot.iife.min.js", "uplot.css": "dist/uPlot.min.css", LICENSE: "LICENSE" },
  };

/* dockview-core has its style in its script only, which adds it to the page: our page lets nothing be added. */
function styleOf(script) {
  return folder => {
    const style = { textContent: "" },
      document = { createElement: () => style, head: { append() {}, appendChild() {} } };

    vm.runInNewContext(fs.readFileSync(path.join(folder, script), "utf8"), {
      document,
      window: {},
      HTMLElement: class {},
    });
    return style.textContent + "\n";
  };
}

/* [path, text] of each. */
function* files() {
  for (const [library, of] of Object.entries(FILES))
    for (const [name, from] of Object.entries(of)) {
      const folder = path.join(here, "node_modules", library),
        text = typeof from === "function" ? from(folder) : fs.readFileSync(path.join(folder, from), "utf8");

      yield [path.join(here, library, name), text];
    }
}

const isCheck = process.argv[2] === "--check";
for (const [file, text] of files()) {
  const is = fs.existsSync(file) && fs.readFileSync(file, "utf8") === text;

  if (is) continue;
  if (isCheck) {
    console.log(path.relative(here, file));
    process.exitCode = 1;
  } else {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}
