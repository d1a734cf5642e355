// Compares the tokens that kvcheck wrote with those of Hugging Face's tokenizers.
//
// Arguments: a folder with the npm package `tokenizers`, and a folder with strings.txt (hexadecimal,
// one a line) and NAME/tokenizer.json and NAME/ids.txt. Exits with 1 if one string differs.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const { Tokenizer } = createRequire(modules + '/')('tokenizers');

const linesOf = (file) => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
const strings = linesOf(folder + '/strings.txt').map((line) => Buffer.from(line, 'hex').toString());

let failed = false;
for (const name of fs.readdirSync(folder).sort()) {
  const at = `${folder}/${name}`;
  if (!fs.existsSync(at + '/ids.txt')) continue;
  const ours = linesOf(at + '/ids.txt');
  const tokenizer = Tokenizer.fromFile(at + '/tokenizer.json');
  const differing = [];
  for (let i = 0; i < strings.length; ++i) {
    const encoded = await tokenizer.encode(strings[i], null, { addSpecialTokens: false });
    const theirs = encoded.getIds().join(' ');
    if (theirs !== (ours[i] ?? 'nothing').trim()) differing.push([strings[i], ours[i], theirs]);
  }
  console.log(`${name}: ${differing.length} of ${strings.length} strings differ`);
  for (const [text, mine, theirs] of differing.slice(0, 3)) {
    console.log(`  ${JSON.stringify(text)}: kvcheck ${mine}, expected ${theirs}`);
  }
  failed ||= differing.length > 0 || ours.length !== strings.length;
}
process.exit(failed ? 1 : 0);
