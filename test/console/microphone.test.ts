/** The pages show a message about a missing microphone. */
import t from 'tap'
import { connectedWords, microphoneFault, withoutMicrophone } from '../../console/try/microphone.js'

t.test('the page shows why it has no microphone', (t) => {
  t.equal(withoutMicrophone({ isSecure: true, devices: {} }), null)
  t.equal(withoutMicrophone({ isSecure: false, devices: undefined }), 'The microphone needs HTTPS.')
  t.match(withoutMicrophone({ isSecure: true, devices: undefined }), /browser/)
  for (const [name, words] of [
    ['NotAllowedError', /not allowed/],
    ['NotFoundError', /no microphone/],
    ['NotReadableError', /another program/],
    ['OverconstrainedError', /no microphone that fits/],
  ] as const)
    t.match(microphoneFault(Object.assign(new Error('Requested device not found'), { name })), words)
  t.equal(microphoneFault(new TypeError('no fault of a microphone')), null)
  t.equal(microphoneFault(null), null)
  t.end()
})

t.test('the first status line of a session says why there is no microphone', (t) => {
  const first = { resumed: false, recording: true }
  t.equal(connectedWords(first, null), 'Connected. This conversation is recorded.')
  t.equal(
    connectedWords(first, 'There is no microphone.'),
    'Connected. This conversation is recorded. There is no microphone. Type instead.',
  )
  t.equal(connectedWords({ resumed: false, recording: false }, null), 'Connected.')
  t.equal(connectedWords({ resumed: true, recording: true }, null), 'Connected again.')
  t.end()
})
