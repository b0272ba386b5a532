(scope) @indent.begin @indent
(scope "}" @indent.branch @indent.end @outdent)
