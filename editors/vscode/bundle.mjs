// Bundle the extension into one file, with the licences of everything that is in it beside it.
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  bundle: true,
  outfile: "dist/extension.js",
  external: ["vscode"],
  format: "cjs",
  platform: "node",
  target: "node20",
  minify: true,
  metafile: true,
  logLevel: "info",
});

const packages = new Set();
for (const path of Object.keys(metafile.inputs)) {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
  if (found) {
    packages.add(found[1]);
  }
}
const texts = [...packages].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file || !existsSync(`${folder}/${file}`)) {
    throw new Error(`${name} has no licence file`);
  }
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
mkdirSync("dist", { recursive: true });
writeFileSync("dist/licenses.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
