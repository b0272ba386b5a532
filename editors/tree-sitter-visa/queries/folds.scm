[
  (routine)
  (scope)
] @fold
