/** Chooses a tool by the user's words and takes its arguments from the same words. */
import type { LlmRequest } from '../../../domain/ports/llm.ts'
import { scriptLanguages } from './languages/languages.ts'
import type { ScriptLanguage } from './languages/script-language.ts'
import { plainWords, type Vocabulary } from './script-words.ts'
import { smallestValue } from './smallest-value.ts'

type Tool = LlmRequest['tools'][number]

/** Words ignored in a tool's name: in "get_weather" only "weather" is the subject. */
const verbs = new Set('get find look lookup up check fetch search read show list query retrieve by'.split(' '))
const endCallTool = 'end_call'
const scheduleCallback = 'schedule_callback'
/** A caller may speak another language than the agent, so each language's trigger is tried. */
const triggers = (said: string, trigger: 'leaves' | 'wantsCallback') =>
  scriptLanguages.some(({ triggers }) => triggers[trigger].test(said))

/** The name book_table matches "book a table": at most this many words may be between its words. */
const gapMax = 2

/**
 * Returns the tool named by the user, or undefined. If the user says one tool's full name and only the subject from
 * another tool's name, the full name wins.
 */
export function toolNamedIn(tools: readonly Tool[], said: string, vocabulary: Vocabulary): Tool | undefined {
  if (tools.length === 0) return undefined
  const words = plainWords(said)
  const text = ` ${words.join(' ')} `
  return (
    tools.find(({ name }) => text.includes(` ${plainWords(name.replaceAll('_', ' ')).join(' ')} `)) ??
    tools.find(({ name }) => name === endCallTool && triggers(said, 'leaves')) ??
    tools.find(({ name }) => name === scheduleCallback && triggers(said, 'wantsCallback')) ??
    tools.find(({ name }) => name !== endCallTool && isAbout(name, words, vocabulary)) ??
    tools.find(({ name, description }) => name !== endCallTool && isDescribed(description ?? '', said, vocabulary))
  )
}

function isAbout(name: string, said: readonly string[], vocabulary: Vocabulary): boolean {
  const words = plainWords(name.replaceAll('_', ' '))
  const subject = words.filter((word) => !verbs.has(word)).map((word) => vocabulary.stemOf(word))
  if (subject.length === 0) return false
  let at = -1
  for (const [i, stem] of subject.entries()) {
    const from = at + 1
    const next = said.findIndex((word, place) => place >= from && vocabulary.stemOf(word) === stem)
    if (next < 0 || (i > 0 && next - at > gapMax + 1)) return false
    at = next
  }
  return subject.length > 1 || subject.length < words.length
}

/**
 * True if the user says at least two words from the tool's description, and at least half the user's subject words are
 * in it.
 */
function isDescribed(description: string, said: string, vocabulary: Vocabulary): boolean {
  const userSubjects = vocabulary.subjects(said)
  const descriptionSubjects = vocabulary.subjects(description)
  const both = [...userSubjects].filter((word) => descriptionSubjects.has(word)).length
  return both >= 2 && 2 * both >= userSubjects.size
}

/**
 * Returns the arguments as JSON. If the user did not say an argument, it gets the smallest valid value for its schema.
 */
export function argumentsFrom({ name, parameters = { type: 'object' } }: Tool, said: string, words: Words): string {
  const value = smallestValue(parameters)
  if (!isObject(value)) return JSON.stringify(value)
  if (name === endCallTool) return JSON.stringify({ ...value, message: words.language.says.goodbye })
  const properties = isObject(parameters['properties']) ? parameters['properties'] : {}
  for (const [property, schema] of Object.entries(properties).slice(0, propertiesMax)) {
    const argument = isObject(schema) ? valueOf(property, schema, said, words) : undefined
    if (argument !== undefined) value[property] = argument
  }
  return JSON.stringify(value)
}

/** The conversation's language. */
export type Words = { language: ScriptLanguage; vocabulary: Vocabulary }

const propertiesMax = 50

function valueOf(property: string, schema: Record<string, unknown>, said: string, words: Words): unknown {
  const { type } = schema
  if (Array.isArray(schema['enum'])) return chosenIn(schema['enum'], said, words.vocabulary)
  if ((type === 'integer' || type === 'number') && isMinutes.test(property)) return minutesIn(said, words.language)
  if (type === 'integer' || type === 'number') return numberIn(said, type === 'integer', words.language)
  if (type !== 'string') return undefined
  const text = textOf(property, said, words.language)
  const { minLength, maxLength } = schema
  const fits = text !== undefined && text.length >= Number(minLength ?? 0) && text.length <= Number(maxLength ?? 1000)
  return fits ? text : undefined
}

/**
 * Returns the enum value said by the user. Speech to text often drops a plural's last "s", so other word forms match
 * too, but exact matches are tried first.
 */
function chosenIn(values: readonly unknown[], said: string, vocabulary: Vocabulary): string | undefined {
  const texts = values.filter((value) => typeof value === 'string')
  const isSaid = (form: (word: string) => string) => {
    const all = ` ${plainWords(said).map(form).join(' ')} `
    return texts.find((value) => all.includes(` ${plainWords(value).map(form).join(' ')} `))
  }
  return isSaid((word) => word) ?? isSaid((word) => vocabulary.plainStemOf(word))
}

function numberIn(said: string, isWhole: boolean, language: ScriptLanguage): number | undefined {
  const numbers = language.numbers.split(' ')
  const number = digitsIn(said, language)
  if (number !== undefined) return isWhole ? Math.trunc(number) : number
  const word = plainWords(said).find((each) => numbers.includes(each))
  return word === undefined ? undefined : numbers.indexOf(word)
}

const grouped = { '.': /\d{1,3}(?:,\d{3})+(?:\.\d{1,9})?/, ',': /\d{1,3}(?:\.\d{3})+(?:,\d{1,9})?/ }
const ungrouped = /\d{1,9}(?:[.,]\d{1,9})?/

/**
 * Reads a number with the language's decimal character. Recognizers write a decimal point even in languages with a
 * decimal comma.
 */
function digitsIn(said: string, { decimalMark }: ScriptLanguage): number | undefined {
  const plain = ungrouped.exec(said)
  const match = grouped[decimalMark].exec(said)
  if (plain === null) return undefined
  if (match?.index !== plain.index) return Number(plain[0].replace(',', '.'))
  const groupMark = decimalMark === '.' ? ',' : '.'
  return Number(match[0].replaceAll(groupMark, '').replace(',', '.'))
}

const isMinutes = /minutes?$/i
const span =
  /(?<!\p{L})(\d{1,5}|\p{L}{1,8}) (minut(?:e[ns]?|os?|i|o)?|hours?|stunden?|horas?|heures?|or[ae])(?!\p{L})/iu

/** Returns the minutes in "in ten minutes" or "in 2 hours". */
function minutesIn(said: string, language: ScriptLanguage): number | undefined {
  const [, count, unit] = span.exec(said) ?? []
  if (count === undefined || unit === undefined) return undefined
  const number = /^(?:an?|einer?|un[ae']?)$/i.test(count) ? 1 : numberIn(count, true, language)
  return number === undefined ? undefined : number * (/^m/i.test(unit) ? 1 : 60)
}

const isCode = /(?:^|_)(?:id|number|no|code|phone|reference|zip)$/
const isWhole = /(?:^|_)(?:query|question|text|message|reason|topic|request|notes?|q)$/
const isDay = /(?:^|_)(?:date|day|when)$/
const isInstant = /^at$/
const isPhone = /^to$|(?:^|_)phone$/
const isTime = /(?:^|_)time$/
const isoDay = /\b\d{4}-\d\d-\d\d\b/
const time =
  /\b(?:\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b\.?)?|noon|midnight|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'?clock)?)/i
const instant = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)/
const phone = /\+\d(?:[ ()-]{0,2}\d){6,14}/
const mail = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/
/** Matches a code in one piece, or digits spoken one by one. */
const code = /[A-Za-z]{0,4}-?\d(?:[\d -]{0,30}\d)?[A-Za-z]{0,4}/
/** Matches a name after a preposition: words with a capital letter. */
const place = /\b(?:in|for|to|at|from|about|of|with)\s+((?:\p{Lu}[\p{L}'’-]*)(?:\s+\p{Lu}[\p{L}'’-]*){0,3})/u
const ownName = scriptLanguages.map(({ ownName }) => ownName).join('|')
const namedSelf = new RegExp(
  `(?<!\\p{L})(?:${ownName})\\s+((?:\\p{Lu}[\\p{L}'’-]*)(?:\\s+\\p{Lu}[\\p{L}'’-]*){0,3})`,
  'iu',
)

function textOf(property: string, said: string, language: ScriptLanguage): string | undefined {
  const key = property.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  if (/mail$/.test(key)) return mail.exec(said)?.[0]
  if (isInstant.test(key)) return instant.exec(said)?.[0]
  const number = isPhone.test(key) ? phone.exec(said)?.[0] : undefined
  if (number !== undefined) return number.replaceAll(/[ ()-]/g, '')
  if (isDay.test(key)) return (isoDay.exec(said) ?? language.day.exec(said))?.[0].toLowerCase()
  if (isTime.test(key)) return timeIn(said, language)
  if (isCode.test(key)) return code.exec(said)?.[0].replaceAll(/[ -]+/g, '')
  if (isWhole.test(key)) return said.trim()
  if (/name$/.test(key)) return namedSelf.exec(said)?.[1] ?? place.exec(said)?.[1]
  return place.exec(said)?.[1]
}

/** Returns the spoken time. A number after "at" is preferred to any other number. */
function timeIn(said: string, { day }: ScriptLanguage): string | undefined {
  const times = said.replace(isoDay, '').replace(day, '')
  const parts = times.split(/(?<!\p{L})(?:at|um|alle|à|a las)(?!\p{L})/iu)
  const after = parts.slice(1).map((part) => time.exec(part.slice(0, timeCharactersMax)))
  return (after.find((match) => match?.index === 1) ?? time.exec(times))?.[0]
}

const timeCharactersMax = 40

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
