import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { queries } from '../data/queries.ts'
import { RedactionProvider } from '../parts/redaction.tsx'
import { ShortcutProvider } from '../parts/shortcuts.tsx'
import { router } from './routes.tsx'

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <RedactionProvider>
        <ShortcutProvider>
          <RouterProvider router={router} />
        </ShortcutProvider>
      </RedactionProvider>
    </QueryClientProvider>
  )
}
