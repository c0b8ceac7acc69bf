/** The JSON that `/v1/transcribe` takes in headers, because its body is the audio. Fields that are not known are ignored, as in bodies of this surface. */
import { Fault } from '../../domain/fault.ts'
import { readLanguage } from '../../domain/routing/language.ts'
import type { Constraints, Intent, SttOptions } from '../../generated/compat/types.ts'

const objectives = ['balanced', 'quality', 'latency', 'cost'] as const
const listMax = 100
const textCharsMax = 4096
const keywordCharsMax = 64

/** All throw invalid_parameter that names the header and the field. An absent header is an empty object. The names are the contract's; the fault's writer tells them with the deployer's prefix. */
export function readIntent(text: string | undefined): Intent {
  const name = 'x-service-intent'
  const { language, region, optimizeFor } = fieldsOf(text, name)
  if (language !== undefined) readLanguage(stringOf(language, name, 'language'), name)
  const objective = objectives.find((each) => each === optimizeFor)
  if (optimizeFor !== undefined && !objective)
    throw invalid(name, `optimizeFor must be one of ${objectives.join(', ')}.`)
  return {
    ...(typeof language === 'string' && { language }),
    ...(region !== undefined && { region: stringOf(region, name, 'region') }),
    ...(objective && { optimizeFor: objective }),
  }
}

export function readConstraints(text: string | undefined): Constraints {
  const name = 'x-service-constraints'
  const { allowedProviders } = fieldsOf(text, name)
  if (allowedProviders === undefined) return {}
  if (!isFields(allowedProviders)) throw invalid(name, 'allowedProviders must be an object of lists.')
  const { stt } = allowedProviders
  return stt === undefined ? {} : { allowedProviders: { stt: stringsOf(stt, name, 'allowedProviders.stt') } }
}

export function readSttOptions(text: string | undefined): SttOptions {
  const name = 'x-service-stt-options'
  const { model, words, diarization, keywords, prompt } = fieldsOf(text, name)
  return {
    ...(model !== undefined && { model: stringOf(model, name, 'model') }),
    ...(words !== undefined && { words: booleanOf(words, name, 'words') }),
    ...(diarization !== undefined && { diarization: booleanOf(diarization, name, 'diarization') }),
    ...(keywords !== undefined && { keywords: stringsOf(keywords, name, 'keywords', keywordCharsMax) }),
    ...(prompt !== undefined && { prompt: stringOf(prompt, name, 'prompt') }),
  }
}

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldsOf(text: string | undefined, name: string): Fields {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(name, 'The header is not JSON.')
  }
  if (!isFields(value)) throw invalid(name, 'The header must be a JSON object.')
  return value
}

function stringOf(value: unknown, name: string, field: string, charsMax = textCharsMax): string {
  if (typeof value === 'string' && value !== '' && value.length <= charsMax) return value
  throw invalid(name, `${field} must be a string of 1 to ${charsMax} characters.`)
}

function booleanOf(value: unknown, name: string, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(name, `${field} must be true or false.`)
}

function stringsOf(value: unknown, name: string, field: string, charsMax = textCharsMax): string[] {
  if (Array.isArray(value) && value.length <= listMax)
    return (value as unknown[]).map((each) => stringOf(each, name, `Each of ${field}`, charsMax))
  throw invalid(name, `${field} must be a list of at most ${listMax} strings.`)
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid_parameter', { param, message })
}
