/** An unknown path is refused: the error names the nearest path, and the server reads little of a long path. */
import t from 'tap'
import { nothingAt, segmentsOf, sharedSegments } from '../../runtime/http/unknown-path.ts'

const patterns = ['/v1/agents', '/v1/agents/:id', '/v1/agents/:id/versions', '/router/v1/models']

t.test('the answer to an unknown path names the most similar path', (t) => {
  const cases: [path: string, near: string | null][] = [
    ['/agents', '/v1/agents'],
    ['/api/v1/agents', '/v1/agents'],
    ['/v1/agents/x/version', '/v1/agents/{id}'],
    ['/v1/nothing', null],
    [`/v1/agents${'/x'.repeat(20)}`, null],
  ]
  for (const [path, near] of cases) {
    const { message } = nothingAt(path, patterns)
    t.equal(message, `There is nothing at ${path}.${near === null ? '' : ` Did you mean ${near}?`}`)
  }
  t.end()
})

t.test('a path of thousands of segments takes no longer than a short path', (t) => {
  const segments = segmentsOf(`/v1/agents${'/'.repeat(16_000)}`)
  t.ok(segments.length < 20)
  t.equal(sharedSegments('/v1/agents/:id', segments), 2)
  t.end()
})
