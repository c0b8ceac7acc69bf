/**
 * Recorded human speech with its transcripts: the Asterisk core sounds (8 kHz, one speaker, CC-BY-SA-3.0) from Debian's
 * packages, fetched once into a folder ignored by git. This needs no root. The recordings are chosen by a rule, and not
 * by their results.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { recognised } from '../audio/build.ts'

export type Prompt = { name: string; text: string; wav: Uint8Array; durationMs: number }
export type Prompts = { prompts: Prompt[] } | { missing: string }

const run = promisify(execFile)
/** The folder with a language's recordings. There is one speaker for each language. */
const sounds = {
  en: 'en_US_f_Allison',
  es: 'es_MX_f_Allison',
  fr: 'fr_CA_f_June',
  it: 'it_IT_m_Carlo',
  ru: 'ru_RU_f_IvrvoiceRU',
} as const
export type PromptLanguage = keyof typeof sounds
const cacheOf = (language: PromptLanguage) =>
  fileURLToPath(new URL(`../../.cache/prompts${language === 'en' ? '' : `-${language}`}`, import.meta.url))
const commandTimeoutMs = 60_000

const promptMs = { min: 2000, max: 15_000 }
const totalMsMin = 330_000
/**
 * The characters that a prompt's transcript may have. Remarks in brackets and key names written as symbols are
 * excluded. Only English may have digits, because the other speakers sometimes say more than the digit.
 */
const plainSpeech = { en: /^[A-Za-z0-9 ,.?!:;'-]+$/, others: /^[\p{L} ,.?!¿¡:;'’-]+$/u }

/**
 * The prompts from 2 to 15 s, sorted by name, each transcript once, up to 330 s in total. If the list is empty,
 * `missing` is the reason: no apt, or no network.
 */
export async function loadPrompts(language: PromptLanguage = 'en'): Promise<Prompts> {
  try {
    await readdir(cacheOf(language))
  } catch {
    const failure = await fetchPackages(language).then(() => null, reasonOf)
    if (failure !== null) return { missing: `recorded prompts cannot be fetched: ${failure}` }
  }
  return { prompts: await choose(language) }
}

async function choose(language: PromptLanguage): Promise<Prompt[]> {
  const isPlain = language === 'en' ? plainSpeech.en : plainSpeech.others
  const folder = path.join(cacheOf(language), 'usr/share/asterisk/sounds', sounds[language])
  const chosen = new Map<string, Prompt>()
  let totalMs = 0
  for (const [name, text] of await readTexts(language)) {
    if (totalMs >= totalMsMin) break
    // The Italian list has a line with several prompts and their names.
    if (/[a-z]-[a-z-]+: /.test(text)) continue
    if (!isPlain.test(text) || chosen.has(text.toLowerCase())) continue
    const wav = await readFile(path.join(folder, `${name}.wav`)).catch(() => null)
    if (wav === null) continue
    const { durationMs } = recognised([wav], null)
    if (durationMs < promptMs.min || durationMs > promptMs.max) continue
    chosen.set(text.toLowerCase(), { name, text, wav, durationMs })
    totalMs += durationMs
  }
  return [...chosen.values()]
}

/**
 * Reads the lines "name: text". Names with a folder are skipped: these prompts are single digits, letters or silence,
 * or name telephone keys.
 */
async function readTexts(language: PromptLanguage): Promise<[string, string][]> {
  const texts = `usr/share/doc/asterisk-core-sounds-${language}/core-sounds-${language}.txt.gz`
  const lines = gunzipSync(await readFile(path.join(cacheOf(language), texts)))
    .toString('utf8')
    .split('\n')
  const entries = lines.flatMap((line): [string, string][] => {
    const [, name, text] = /^([a-z0-9-]+): (.+)$/.exec(line) ?? []
    return name && text ? [[name, text.trim()]] : []
  })
  return entries.sort(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * Packages are unpacked beside the cache and moved in one step, so an aborted run leaves no partial cache and two runs
 * do not mix.
 */
async function fetchPackages(language: PromptLanguage): Promise<void> {
  const cache = cacheOf(language)
  await mkdir(path.dirname(cache), { recursive: true })
  const work = await mkdtemp(path.join(path.dirname(cache), 'fetch-'))
  try {
    await download(work, [`asterisk-core-sounds-${language}-wav`, `asterisk-core-sounds-${language}`])
    const unpacked = path.join(work, 'unpacked')
    for (const file of (await readdir(work)).filter((name) => name.endsWith('.deb'))) {
      await run('dpkg-deb', ['-x', file, unpacked], { cwd: work, timeout: commandTimeoutMs })
    }
    await rename(unpacked, cache).catch(async (error: unknown) => {
      if (!(await readdir(cache).catch(() => null))) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function download(work: string, packages: readonly string[]): Promise<void> {
  const apt = (...args: string[]) => run('apt-get', args, { cwd: work, timeout: commandTimeoutMs })
  try {
    await apt('download', ...packages)
  } catch {
    // Package lists may be missing, and only root may renew the system's lists.
    await mkdir(path.join(work, 'lists/partial'), { recursive: true })
    await mkdir(path.join(work, 'apt/archives/partial'), { recursive: true })
    const own = ['-o', `Dir::State::Lists=${work}/lists`, '-o', `Dir::Cache=${work}/apt`]
    await apt(...own, 'update')
    await apt(...own, 'download', ...packages)
  }
}

/** Returns the error message from apt, without the failed command. */
function reasonOf(error: Error & { stderr?: string }): string {
  return /^E: (.+)$/m.exec(error.stderr ?? '')?.[1] ?? error.message.split('\n')[0]!
}
