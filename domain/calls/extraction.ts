/**
 * The extraction fields of all that receive the report of a call, as one list of questions for one LLM request. The fields
 * of the agent go to every endpoint, and win over a field of an endpoint that has the same name.
 *
 * 50 endpoints may have 1,500 fields, and no provider takes as many. The fields of the agent are all asked for, then those
 * of the endpoints, the oldest first, as long as they fit. The values of the others are null.
 */
import type { ExtractionField } from '../records/webhook-endpoint.ts'
import type { CustomData } from './report.ts'

/** The fields of an endpoint that receives the report or the analysis. */
export type EndpointFields = { endpointId: string; fields: readonly ExtractionField[] }

/** Values by endpoint, for those that have fields. */
export type EndpointData = Readonly<Record<string, CustomData>>

export type Extracted = {
  /** All fields by name. Where several have one name the agent's counts, then that of the first endpoint. */
  customData: CustomData
  endpointData: EndpointData
}

export type Extraction = {
  /** Their names are unique. Those of the agent come first. */
  questions: readonly ExtractionField[]
  /** The questions of the agent alone. */
  ofAgent: readonly ExtractionField[]
  /** The values of all fields, from the values of the questions. A question without a value is null. */
  read: (values: CustomData) => Extracted
}

/** The most questions, and the characters of all their texts, that endpoints can bring a request to. */
export const questionLimits = { count: 100, characters: 40_000 }

export function extractionOf(ofAgent: readonly ExtractionField[], endpoints: readonly EndpointFields[]): Extraction {
  const names = new Set([...ofAgent, ...endpoints.flatMap(({ fields }) => fields)].map(({ name }) => name))
  /** By definition: endpoints that ask the same get the same answer. */
  const questions = new Map<string, ExtractionField>()
  const taken = new Set<string>()
  let characters = 0
  /** Null: it does not fit. */
  const questionOf = (field: ExtractionField, isOfAgent: boolean): string | null => {
    const definition = JSON.stringify([field.name, field.type, field.description, field.options])
    const known = questions.get(definition)
    if (known) return known.name
    const total = characters + charactersOf(field)
    if (!isOfAgent && (questions.size >= questionLimits.count || total > questionLimits.characters)) return null
    characters = total
    const name = taken.has(field.name) ? freeName(questions.size, names) : field.name
    taken.add(name)
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

/** A field, and the question whose answer is its value. */
type NamedQuestion = [name: string, question: string | null]

function charactersOf({ name, description, options = [] }: ExtractionField): number {
  return [name, description, ...options].reduce((sum, text) => sum + text.length, 0)
}

/** For a field whose name another definition has. LLMs take names of at most 64 characters. */
function freeName(at: number, names: ReadonlySet<string>): string {
  let name = `field_${at}`
  while (names.has(name)) name = `${name}_`
  return name
}

/** The data of one endpoint: its fields and those of the agent. */
export function dataOf(
  endpointId: string,
  { customData, endpointData }: Extracted,
  ofAgent: readonly ExtractionField[],
): CustomData {
  return endpointData[endpointId] ?? Object.fromEntries(ofAgent.map(({ name }) => [name, valueOf(customData, name)]))
}

/** A field may have the name of something that every object has. */
function valueOf(values: CustomData, name: string): string | number | boolean | null {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null
}
