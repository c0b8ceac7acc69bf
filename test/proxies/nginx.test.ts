import t from 'tap'
import { deadServer } from './dead-server.ts'
import { earlyAnswers } from './early-answers.ts'
import { missing } from './proxy.ts'
import { rollingRestart } from './rolling-restart.ts'
import { sessionsOfNodes } from './sessions-of-nodes.ts'
import { streams } from './streams.ts'

t.setTimeout(300_000)
const skip = await missing('nginx')
t.test('streams behind nginx arrive as they are sent', { skip }, (t) => streams(t, 'nginx'))
t.test('simultaneous streams behind nginx arrive completely', { skip }, (t) => earlyAnswers(t, 'nginx'))
t.test('if a server behind nginx dies, requests go to the other server', { skip }, (t) => deadServer(t, 'nginx'))
t.test('a socket behind nginx reaches the node of its session', { skip }, (t) => sessionsOfNodes(t, 'nginx'))
t.test('a rolling restart behind nginx loses no request', { skip }, (t) => rollingRestart(t, 'nginx'))
