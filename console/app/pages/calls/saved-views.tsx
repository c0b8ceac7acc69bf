import { Link, useLocation } from '@tanstack/react-router'
import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { readSearch } from '../../data/search.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import styles from './saved-views.module.css'

type View = { name: string; search: string }

const storageKey = 'parley.calls.views'
const viewsMax = 20

/** Keeps named views (sets of filters) in this browser. To share a view, share the page's URL. */
export function SavedViews({ canSave }: { canSave: boolean }) {
  const [views, setViews] = useState(readViews)
  const [isNaming, setNaming] = useState(false)
  const { searchStr } = useLocation()
  const store = (next: readonly View[]) => {
    localStorage.setItem(storageKey, JSON.stringify(next))
    setViews(next)
  }
  return (
    <div className={styles.views}>
      {views.map((view) => (
        <span key={view.name} className={styles.view}>
          <Link to="/calls" search={readSearch(view.search)}>
            {view.name}
          </Link>
          <Button
            look="quiet"
            isSmall
            aria-label={`Remove the view ${view.name}`}
            onClick={() => store(views.filter((each) => each !== view))}
          >
            <X aria-hidden="true" />
          </Button>
        </span>
      ))}
      {canSave && views.length < viewsMax && (
        <Button onClick={() => setNaming(true)}>
          <Bookmark aria-hidden="true" />
          Save this view
        </Button>
      )}
      {isNaming && (
        <NameDialog
          onClose={() => setNaming(false)}
          save={(name) => store([...views.filter((each) => each.name !== name), { name, search: searchStr }])}
        />
      )}
    </div>
  )
}

function NameDialog({ save, onClose }: { save: (name: string) => void; onClose: () => void }) {
  const submit = onSubmit((values) => {
    save(values.text('name'))
    onClose()
  })
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <TextField label="Name" name="name" required maxLength={60} autoFocus note="The view stays in this browser." />
        <Button type="submit" look="main">
          Save
        </Button>
      </form>
    </Dialog>
  )
}

function readViews(): readonly View[] {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]') as View[]
  } catch {
    return []
  }
}
