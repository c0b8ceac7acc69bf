import t from 'tap'
import { brokenBodies } from './broken-bodies.ts'
import { deadServer } from './dead-server.ts'
import { earlyAnswers } from './early-answers.ts'
import { missing } from './proxy.ts'
import { rollingRestart } from './rolling-restart.ts'
import { sessionsOfNodes } from './sessions-of-nodes.ts'
import { streams } from './streams.ts'

t.setTimeout(300_000)
const skip = await missing('caddy')
t.test('streams behind caddy arrive as they are sent', { skip }, (t) => streams(t, 'caddy'))
t.test('simultaneous streams behind caddy arrive completely', { skip }, (t) => earlyAnswers(t, 'caddy'))
t.test('broken request bodies behind caddy do not take a server out of rotation', { skip }, brokenBodies)
t.test('if a server behind caddy dies, requests go to the other server', { skip }, (t) => deadServer(t, 'caddy'))
t.test('a socket behind caddy reaches the node of its session', { skip }, (t) => sessionsOfNodes(t, 'caddy'))
t.test('a rolling restart behind caddy loses no request', { skip }, (t) => rollingRestart(t, 'caddy'))
