package main

type person struct{}

func (p *person) visit(string) {}

func throughProxy(bool) func(f *field) ended { return func(f *field) ended { return ended{} } }
