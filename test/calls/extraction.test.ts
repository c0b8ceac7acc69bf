/**
 * The extraction fields of several webhook endpoints and of the agent are sent to the LLM as one question list. Each
 * endpoint and the agent get only the answers for their own fields.
 */
import t from 'tap'
import { dataOf, extractionOf, questionLimits } from '../../domain/calls/extraction.ts'
import type { ExtractionField } from '../../domain/records/webhook-endpoint.ts'

const field = (name: string, more: Partial<ExtractionField> = {}): ExtractionField => ({
  name,
  type: 'string',
  description: `the ${name}`,
  ...more,
})

t.test('without extraction fields the LLM is not asked to extract data, and the result has no data', (t) => {
  const extraction = extractionOf([], [{ endpointId: 'a', fields: [] }])
  t.same(extraction.questions, [])
  t.same(extraction.read({}), { customData: {}, endpointData: {} })
  t.same(dataOf('a', extraction.read({}), []), {})
  t.end()
})

t.test('the LLM is asked once for two extraction fields with the same question', (t) => {
  const { questions, read } = extractionOf(
    [field('name')],
    [
      { endpointId: 'a', fields: [field('day'), field('name')] },
      { endpointId: 'b', fields: [field('day')] },
    ],
  )
  t.same(
    questions.map(({ name }) => name),
    ['name', 'day'],
  )
  const read1 = read({ name: 'Ada', day: 'today' })
  t.same(read1.endpointData, { a: { day: 'today', name: 'Ada' }, b: { day: 'today', name: 'Ada' } })
  t.same(read1.customData, { day: 'today', name: 'Ada' })
  t.end()
})

t.test("fields with equal names but different questions are extracted separately; the agent's field wins", (t) => {
  const ofAgent = [field('name')]
  const { questions, read } = extractionOf(ofAgent, [
    { endpointId: 'a', fields: [field('day'), field('field_2')] },
    { endpointId: 'b', fields: [field('day', { type: 'enum', options: ['x'] }), field('name', { type: 'number' })] },
  ])
  const names = questions.map(({ name }) => name)
  t.equal(new Set(names).size, 5)
  t.same(names.slice(0, 3), ['name', 'day', 'field_2'])
  const values = Object.fromEntries(names.map((name, at) => [name, `answer ${at}`]))
  const extracted = read(values)
  t.same(extracted.endpointData['a'], { day: 'answer 1', field_2: 'answer 2', name: 'answer 0' })
  t.same(extracted.endpointData['b'], { day: 'answer 3', name: 'answer 0' })
  t.same(extracted.customData, { name: 'answer 0', day: 'answer 1', field_2: 'answer 2' })
  t.same(dataOf('b', extracted, ofAgent), { day: 'answer 3', name: 'answer 0' })
  t.same(dataOf('other', extracted, ofAgent), { name: 'answer 0' }, 'an endpoint without fields has those of the agent')
  t.end()
})

t.test('a field without an answer is null, also if the field has the name of an inherited property', (t) => {
  const names = ['constructor', '__proto__', 'toString', 'day']
  const { read } = extractionOf([], [{ endpointId: 'a', fields: names.map((name) => field(name)) }])
  const { customData, endpointData } = read({})
  for (const data of [customData, endpointData['a'] ?? {}]) {
    t.same(Object.keys(data).sort(), names.toSorted())
    t.ok(Object.values(data).every((value) => value === null))
  }
  t.end()
})

t.test('extraction fields of the agent come first, then those of the oldest endpoints, up to the limits', (t) => {
  const many = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => field(`${prefix}_${at}`))
  const endpoints = Array.from({ length: 50 }, (_, at) => ({ endpointId: `e${at}`, fields: many(`e${at}`, 30) }))
  const { questions, ofAgent, read } = extractionOf(many('agent', 30), endpoints)
  t.equal(questions.length, questionLimits.count)
  t.same(ofAgent, many('agent', 30))
  t.same(questions.slice(0, 60), [...many('agent', 30), ...many('e0', 30)])
  const values = Object.fromEntries(questions.map(({ name }) => [name, name]))
  const { endpointData } = read(values)
  t.equal(endpointData['e2']?.['e2_9'], 'e2_9', 'the last that fits')
  t.equal(endpointData['e2']?.['e2_10'], null)
  t.equal(Object.keys(endpointData['e49'] ?? {}).length, 60)

  const long = (name: string, characters: number) => field(name, { description: 'x'.repeat(characters - name.length) })
  const agent = [long('a', questionLimits.characters - 100)]
  const fitting = extractionOf(agent, [{ endpointId: 'x', fields: [long('b', 101), long('c', 100), long('d', 1)] }])
  t.same(
    fitting.questions.map(({ name }) => name),
    ['a', 'c'],
  )
  t.equal(extractionOf([...agent, long('b', 101)], []).questions.length, 2, 'the agent has separate limits')
  t.end()
})
