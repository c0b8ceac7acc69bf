/** The options of `parley mock`. */
import t from 'tap'
import { runAlone } from '../command.ts'
import { serve } from './setup.ts'

const { url } = await serve(t)

t.test('an invalid port is refused, and the error for a port in use names the port', async (t) => {
  const wrong = await runAlone(['mock', '--port', 'all'], {})
  t.same([wrong.code, wrong.stderr], [2, 'parley: --port takes a whole number from 0 to 65535, not all\n'])
  const { port } = new URL(url)
  const taken = await runAlone(['mock', '--port', port], {})
  t.equal(taken.code, 1)
  t.match(taken.stderr, `--port: 127.0.0.1:${port} is taken`)
})
