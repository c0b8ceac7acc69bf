/**
 * Joins the agent's and the endpoints' extraction fields into one list of questions for one LLM request. Every webhook
 * endpoint gets the agent's fields. If an endpoint's field has the same name, the agent's field wins.
 *
 * 50 endpoints may have 1,500 fields, more than any provider accepts. So all agent fields are asked for, then the
 * endpoints' fields, oldest endpoint first, until the limits are reached. The remaining fields get null.
 */
import type { ExtractionField } from '../records/webhook-endpoint.ts'
import type { CustomData } from './report.ts'

/** An endpoint with its extraction fields. */
export type EndpointFields = { endpointId: string; fields: readonly ExtractionField[] }

/** Values by endpoint id. Endpoints without fields are absent. */
export type EndpointData = Readonly<Record<string, CustomData>>

export type Extracted = {
  /** All fields by name. If several fields share a name, the agent's value wins, then the oldest endpoint's value. */
  customData: CustomData
  endpointData: EndpointData
}

export type Extraction = {
  /** Question names are unique. The agent's questions come first. */
  questions: readonly ExtractionField[]
  /** The questions for the agent's extraction fields, without the endpoints' questions. */
  ofAgent: readonly ExtractionField[]
  /** Turns the answers to the questions into the fields' values. A question without an answer gives null. */
  read: (values: CustomData) => Extracted
}

/** Endpoints' fields are added until the request has this many questions or this many characters of text. */
export const questionLimits = { count: 100, characters: 40_000 }

export function extractionOf(ofAgent: readonly ExtractionField[], endpoints: readonly EndpointFields[]): Extraction {
  const names = new Set([...ofAgent, ...endpoints.flatMap(({ fields }) => fields)].map(({ name }) => name))
  /** Questions, indexed by their definition, so endpoints with the same question share one answer. */
  const questions = new Map<string, ExtractionField>()
  const usedNames = new Set<string>()
  let characters = 0
  /** Returns the question's name, or null if the question would exceed the limits. */
  const questionOf = (field: ExtractionField, isOfAgent: boolean): string | null => {
    const definition = JSON.stringify([field.name, field.type, field.description, field.options])
    const existing = questions.get(definition)
    if (existing) return existing.name
    const total = characters + charactersOf(field)
    if (!isOfAgent && (questions.size >= questionLimits.count || total > questionLimits.characters)) return null
    characters = total
    const name = usedNames.has(field.name) ? freeName(questions.size, names) : field.name
    usedNames.add(name)
    questions.set(definition, { ...field, name })
    return name
  }
  const named = (fields: readonly ExtractionField[], isOfAgent: boolean) =>
    fields.map((field): NamedQuestion => [field.name, questionOf(field, isOfAgent)])
  const agent = named(ofAgent, true)
  const others = endpoints
    .filter(({ fields }) => fields.length > 0)
    .map(({ endpointId, fields }) => ({ endpointId, fields: named(fields, false) }))
  return {
    questions: [...questions.values()],
    ofAgent: [...ofAgent],
    read(values) {
      const valuesOf = (fields: readonly NamedQuestion[]): CustomData =>
        Object.fromEntries(
          fields.map(([name, question]) => [name, question === null ? null : valueOf(values, question)]),
        )
      const own = valuesOf(agent)
      const merged = others.reduceRight<CustomData>((later, { fields }) => ({ ...later, ...valuesOf(fields) }), {})
      return {
        customData: { ...merged, ...own },
        endpointData: Object.fromEntries(
          others.map(({ endpointId, fields }) => [endpointId, { ...valuesOf(fields), ...own }]),
        ),
      }
    },
  }
}

/**
 * A field's name, and the name of the question that gives its value. The second name is null if the question would have
 * exceeded the limits.
 */
type NamedQuestion = [name: string, question: string | null]

function charactersOf({ name, description, options = [] }: ExtractionField): number {
  return [name, description, ...options].reduce((sum, text) => sum + text.length, 0)
}

/**
 * Makes a new question name, because a field with another definition already uses the name. The new name is short,
 * because LLMs accept names up to 64 characters only.
 */
function freeName(at: number, names: ReadonlySet<string>): string {
  let name = `field_${at}`
  while (names.has(name)) name = `${name}_`
  return name
}

/** Returns the extracted values for one webhook endpoint: for its own fields, or else for the agent's fields. */
export function dataOf(
  endpointId: string,
  { customData, endpointData }: Extracted,
  ofAgent: readonly ExtractionField[],
): CustomData {
  return endpointData[endpointId] ?? Object.fromEntries(ofAgent.map(({ name }) => [name, valueOf(customData, name)]))
}

/** Reads only own properties, because a field may be named like a property of every object, such as `constructor`. */
function valueOf(values: CustomData, name: string): string | number | boolean | null {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null
}
