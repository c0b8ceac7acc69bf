/** Starts the console's program in the page. */
import '../tokens.css'
import './base.css'
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'
import { applyScheme, storedScheme } from './shell/scheme.ts'

applyScheme(storedScheme())
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
